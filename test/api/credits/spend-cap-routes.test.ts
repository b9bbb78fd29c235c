import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { listSpendCapsOfAccount, setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import { createDatabase } from '../../../src/platform/database/database.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { patientDatabase } from '../../support/database/test-database.ts';
import { createFrozenDatabase, type FrozenDatabase } from '../../support/database/frozen-clock.ts';
import { assertRefused, isObject } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator } from '../../support/service/operator-key.ts';
import { newBrowser, newMember, newPerson, signIn } from '../../support/service/person.ts';

const price = 165;
const request = { model: 'videogen-2.0-fast', input: { prompt: 'a boat' } };
let database: FrozenDatabase;
let service: HttpService;
before(async () => {
  database = await createFrozenDatabase({ now: '2026-12-31T23:59:59.000Z' });
  service = await startHttpService({ database });
});
after(async () => {
  await service.close();
  await database.close();
});

async function newOwner() {
  return service.newAccount(100 * price, scopes);
}

function send(key: string, method: 'GET' | 'POST', path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return service.send(method, path, { headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
}

async function newKey(owner: string, fields: object): Promise<{ key: string; keyId: string }> {
  const { status, json } = await send(owner, 'POST', '/api/v1/keys', { name: 'program', ...fields });
  assert.equal(status, 200, json.msg);
  return { key: String(json.data['key']), keyId: String(json.data['keyId']) };
}

test('402 a create beyond the cap of its key says what may be spent, and costs nothing', async () => {
  const owner = await newOwner();
  const { key, keyId } = await newKey(owner.key, { caps: { month: price + 1 } });
  assert.equal((await service.create(key, request)).status, 200);
  const refused = await service.create(key, request);
  const resetTime = Date.UTC(2027, 0);
  assertRefused(
    refused,
    402,
    /^the key may spend 166 credits per month: 165 spent, 165 required; it resets at 2027-01-01T00:00:00\.000Z$/,
    { subject: 'key', period: 'month', cap: 166, spent: price, required: price, resetTime },
  );
  const { json } = await send(owner.key, 'GET', '/api/v1/caps');
  assert.deepEqual(json.data, {
    caps: [{ subject: 'key', subjectId: keyId, period: 'month', cap: 166, spent: price, resetTime }],
  });
  assert.equal((await send(owner.key, 'POST', '/api/v1/keys/revoke', { keyId })).status, 200);
  assert.deepEqual(
    (await send(owner.key, 'GET', '/api/v1/caps')).json.data,
    { caps: [] },
    'a revoked key spends nothing',
  );
});

for (const [subject, period] of [
  ['key', 'day'],
  ['member', 'month'],
  ['account', 'total'],
] as const) {
  test(`402 of 100 concurrent creates at two APIs, those beyond the ${period}'s cap of the ${subject}`, async () => {
    const { accountId, person } = await newMember(service, 'owner', 100 * price);
    const made = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes });
    assert.ok(made);
    const ids = { key: made.keyId, member: person.userId, account: accountId };
    const cap = 20 * price + price - 1;
    assert.ok(await setSpendCaps(database.db, accountId, { kind: subject, id: ids[subject] }, { [period]: cap }));
    const pool = createDatabase({ url: database.url, ...patientDatabase });
    const another = await startHttpService({ database, db: pool });
    const elsewhere = newBrowser(another);
    await signIn(elsewhere, person.email);
    const create = (isElsewhere: boolean) =>
      subject === 'member'
        ? (isElsewhere ? elsewhere : person).ask('POST', '/api/v1/jobs/createTask', { accountId, body: request })
        : (isElsewhere ? another : service).create(made.key, request);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => create(index % 2 === 1)));
    await another.close();
    await pool.close();
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [...Array<number>(20).fill(200), ...Array<number>(80).fill(402)]);
    const refused = answers.filter(({ status }) => status === 402).map(({ json }) => json);
    assert.deepEqual(new Set(refused.map(({ error }) => error)), new Set(['spend_cap_reached']));
    assert.deepEqual(new Set(refused.map(({ data }) => data['cap'])), new Set([cap]));
    const [counted] = await listSpendCapsOfAccount(database.db, accountId);
    assert.equal(counted?.spent, 20 * price);
  });
}

test('an account and a member have caps of their own, which null removes', async () => {
  const { accountId, person } = await newMember(service);
  const created = await createKeyUnchecked(service.database.db, { accountId, name: 'a', scopes });
  assert.ok(created);
  const { key } = created;
  const set = (body: object) => send(key, 'POST', '/api/v1/caps', body);
  await set({ total: 5 });
  const both = await set({ userId: person.userId, day: 7, month: 9 });
  const { caps } = both.json.data;
  assert.ok(Array.isArray(caps));
  assert.deepEqual(
    caps.filter(isObject).map(({ subject, subjectId, period, cap }) => [subject, subjectId, period, cap]),
    [
      ['account', accountId, 'total', 5],
      ['member', person.userId, 'day', 7],
      ['member', person.userId, 'month', 9],
    ],
  );
  await set({ userId: person.userId, day: null, month: null });
  assert.deepEqual((await set({ total: null })).json.data, { caps: [] });
});

test('caps of a person who has left the account can be removed', async () => {
  const { accountId, person } = await newMember(service);
  const created = await createKeyUnchecked(service.database.db, { accountId, name: 'a', scopes });
  assert.ok(created);
  const set = (body: object) => send(created.key, 'POST', '/api/v1/caps', { userId: person.userId, ...body });
  assert.equal((await set({ total: 5 })).status, 200);
  const text = 'delete from memberships where account_id = $1';
  await service.database.db.run({ name: 'test-leave', text }, [accountId]);
  assert.deepEqual((await set({ total: null })).json.data, { caps: [] });
  assert.equal((await set({ total: 5 })).status, 404);
});

test('403 a key creates no task, and asks no price, of a model that it may not use', async () => {
  const owner = await newOwner();
  const { key } = await newKey(owner.key, { models: ['videogen-2.0'] });
  for (const path of ['createTask', 'price']) {
    const refused = await send(key, 'POST', `/api/v1/jobs/${path}`, request);
    assertRefused(refused, 403, /^the API key may not use videogen-2\.0-fast; it may use videogen-2\.0$/);
  }
  assert.equal((await service.create(key, { ...request, model: 'videogen-2.0' })).status, 200);
});

test('422 a key for an unknown model, a cap that is not a whole number, and a cap of two subjects', async () => {
  const { key, accountId } = await newOwner();
  for (const [path, body, message] of [
    [
      '/api/v1/keys',
      { name: 'a', models: ['videogen-2.0-fest'] },
      /^models\[0\]: unknown model, did you mean videogen-2\.0-fast\?$/,
    ],
    ['/api/v1/keys', { name: 'a', models: [] }, /^models: must hold at least one model$/],
    ['/api/v1/caps', { day: 1.5 }, /^day: must be null or a whole number from 0 to 1000000000000$/],
    ['/api/v1/caps', { keyId: accountId, userId: accountId, day: 1 }, /^userId: must be left out together with keyId$/],
  ] as const) {
    const { status, json } = await send(key, 'POST', path, body);
    assert.equal(status, 422);
    assert.match(json.msg, message);
  }
});

test('404 a cap for a key or a person of another account', async () => {
  const [one, other] = [await newOwner(), await newOwner()];
  const { keyId } = await newKey(other.key, {});
  const { person } = await newMember(service);
  for (const subject of [{ keyId }, { userId: person.userId }, { keyId: 'nonsense' }]) {
    const refused = await send(one.key, 'POST', '/api/v1/caps', { ...subject, day: 1 });
    assertRefused(refused, 404, /^no key or member of the account has this id$/);
  }
});

test('409 a cap in an account that is being closed while the request is under way', async () => {
  const { key, accountId } = await newOwner();
  // The key is found before the account is locked.
  const closing = await startHttpService({
    database: service.database,
    db: {
      ...service.database.db,
      transaction: async (work) => {
        await closeAccountAs(
          service.database.db,
          { kind: 'command_line', name: 'ada' },
          { accountId, reason: 'asked for' },
        );
        return service.database.db.transaction(work);
      },
    },
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const refused = await closing.send('POST', '/api/v1/caps', { headers, body: '{"day":1}' });
  await closing.close();
  assertRefused(refused, 409, /closed/);
});

test('200 an operator sets caps, as the audit log says; 404 and 409 as for the account itself', async () => {
  const operator = await createTestOperator(service);
  const { accountId } = await newOwner();
  const set = (body: object) => operator.ask('POST', '/api/admin/v1/caps', { body: { accountId, ...body } });
  const { status, json } = await set({ month: 5 * price });
  assert.equal(status, 200, json.msg);
  assert.deepEqual(
    (await listSpendCapsOfAccount(service.database.db, accountId)).map(({ subject, period, credits }) => [
      subject,
      period,
      credits,
    ]),
    [['account', 'month', 5 * price]],
  );
  const { json: log } = await operator.ask('GET', '/api/admin/v1/audit', { query: { accountId } });
  assert.match(JSON.stringify(log.data), /"action":"caps\.set".*"month":825/);
  const member = await newPerson(service, { roles: { [accountId]: 'member' } });
  const ofMember = (await set({ userId: member.userId, day: 7 })).json.data['caps'];
  assert.ok(Array.isArray(ofMember));
  assert.deepEqual(
    ofMember.filter(isObject).map(({ subject, subjectId, period, cap }) => [subject, subjectId, period, cap]),
    [
      ['account', accountId, 'month', 5 * price],
      ['member', member.userId, 'day', 7],
    ],
  );
  assertRefused(await set({ keyId: randomUUID(), day: 1 }), 404, /./);
  assertRefused(await set({ accountId: randomUUID(), day: 1 }), 404, /account not found/);
  const ada = { kind: 'command_line', name: 'ada' } as const;
  await closeAccountAs(service.database.db, ada, { accountId, reason: 'asked for' });
  assertRefused(await set({ day: 1 }), 409, /closed/);
});

test("200 an operator lists the caps of any account, and 404 an unknown account's", async () => {
  const operator = await createTestOperator(service);
  const { accountId } = await newOwner();
  const { db } = service.database;
  assert.equal(await setSpendCaps(db, accountId, { kind: 'account', id: accountId }, { total: 5 * price }), true);
  const list = (id: string) => operator.ask('GET', '/api/admin/v1/caps', { query: { accountId: id } });
  const { status, json } = await list(accountId);
  assert.equal(status, 200);
  assert.deepEqual(json.data['caps'], [
    { subject: 'account', subjectId: accountId, period: 'total', cap: 5 * price, spent: 0, resetTime: null },
  ]);
  assertRefused(await list(randomUUID()), 404, /account not found/);
});
