import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { newMember, newPerson, type Person } from '../../support/service/person.ts';

const now = 1_900_000_000_000;
const maxBalance = 9_007_199_254_740_991;
let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService({ now: () => now });
  operator = await createTestOperator(service);
});
after(() => service.close());

type Made = { readonly batchId: string; readonly codes: readonly string[] };
const post = (path: string, body: object) => operator.ask('POST', `/api/admin/v1/codes${path}`, { body });
const codesOf = async (batch: object = {}) =>
  (await dataOf(post('', { name: 'spring', credits: 500, codes: 1, ...batch }))) as Made; // the documented shape
const redeem = (person: Person, accountId: string, code: string | undefined) =>
  person.ask('POST', '/api/console/v1/credits/redeem', { accountId, body: { code } });

test('200 a code adds its credits once to the account, whose entry is returned; a repeat returns the same entry', async () => {
  const { accountId, person } = await newMember(service, 'owner', 30);
  const other = await newMember(service);
  const { codes } = await codesOf();
  const { status, json } = await redeem(person, accountId, codes[0]);
  assert.equal(status, 200, json.msg);
  const { entryId, createTime, reason, kind, ...entry } = json.data['entry'] as Readonly<Record<string, unknown>>;
  assert.deepEqual([typeof entryId, typeof createTime], ['number', 'number']);
  assert.match(`${String(kind)} ${String(reason)}`, /spring/);
  assert.deepEqual(entry, { amount: 500, balanceAfter: 530, taskId: null, priceName: null });
  assert.equal(json.data['isRepeat'], false);
  const again = (await redeem(person, accountId, codes[0])).json.data;
  assert.deepEqual(again, { entry: json.data['entry'], isRepeat: true });
  assert.equal((await redeem(other.person, other.accountId, codes[0])).json.error, 'code_invalid');
  assert.equal((await redeem(person, accountId, 'unknown')).json.error, 'code_invalid');
});

test('403 a member does not redeem a code for the account, and 404 a person who is no member', async () => {
  const { accountId, person } = await newMember(service, 'member');
  const { codes } = await codesOf();
  assert.equal((await redeem(person, accountId, codes[0])).status, 403);
  assert.equal((await redeem(await newPerson(service), accountId, codes[0])).status, 404);
});

test('409 a code beyond the largest balance, which is reported', async () => {
  const { accountId, person } = await newMember(service, 'owner', maxBalance);
  const { codes } = await codesOf();
  const { status, json } = await redeem(person, accountId, codes[0]);
  assert.deepEqual([status, json.error, json.data], [409, 'balance_out_of_range', { balance: maxBalance }]);
});

test('429 a person who has guessed too often, while another one of the account still redeems', async (t) => {
  const codeAttempts = createRateLimiter({ quota: 2, windowMs: 3_600_000 });
  const strict = await startHttpService({ codeAttempts, database: service.database });
  t.after(() => strict.close());
  const accountId = await createAccount(service.database.db, { name: 'two owners', credits: 0 });
  const [one, two] = [
    await newPerson(strict, { roles: { [accountId]: 'owner' } }),
    await newPerson(strict, { roles: { [accountId]: 'owner' } }),
  ];
  const { codes } = await codesOf({ codes: 2 });
  // Only failed attempts count.
  assert.equal((await redeem(one, accountId, codes[0])).status, 200);
  for (const code of ['a', 'b']) assert.equal((await redeem(one, accountId, code)).json.error, 'code_invalid');
  assert.equal((await redeem(one, accountId, codes[1])).json.error, 'too_many_code_attempts');
  assert.equal((await redeem(two, accountId, codes[1])).status, 200);
});

test('200 batches are listed, the newest first, with what was redeemed and when each ends; 404 an unknown one', async () => {
  const { accountId, person } = await newMember(service);
  const apart = Date.now() + 86_400_000_000;
  const older = await codesOf({ name: 'older', credits: 7, codes: 3, expireTime: now + 1 });
  const newer = await codesOf({ name: 'newer', credits: 9, codes: 2 });
  assert.deepEqual([older.codes.length, new Set([...older.codes, ...newer.codes]).size], [3, 5]);
  await redeem(person, accountId, newer.codes[1]);
  const withdrawn = await dataOf(post('/withdraw', { batchId: newer.batchId, reason: 'a test' }));
  const { batches } = await dataOf(operator.ask('GET', '/api/admin/v1/codes'));
  const [first, second] = batches as readonly Readonly<Record<string, unknown>>[]; // the documented shape
  assert.deepEqual(first, withdrawn);
  for (const time of [first?.['createTime'], first?.['withdrawTime'], second?.['createTime']])
    assert.ok(Number(time) > 0 && Number(time) < apart);
  const { createTime: _created, withdrawTime: _withdrawn, ...shown } = first ?? {};
  const about = { batchId: newer.batchId, name: 'newer', credits: 9, codes: 2, redeemed: 1 };
  assert.deepEqual(shown, { ...about, expireTime: null });
  const { createTime: _createTime, ...ofOlder } = second ?? {};
  assert.deepEqual(ofOlder, {
    batchId: older.batchId,
    name: 'older',
    credits: 7,
    codes: 3,
    redeemed: 0,
    expireTime: now + 1,
    withdrawTime: null,
  });
  assert.equal((await redeem(person, accountId, newer.codes[0])).json.error, 'code_invalid');
  const unknown = await post('/withdraw', { batchId: randomUUID(), reason: 'a test' });
  assert.equal(unknown.json.error, 'code_batch_not_found');
  const past = await post('', { name: 'past', credits: 1, codes: 1, expireTime: now });
  assert.deepEqual([past.status, past.json.error], [422, 'invalid_request']);
});
