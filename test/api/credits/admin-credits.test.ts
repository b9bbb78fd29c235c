import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { type Answer, assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';

let service: HttpService;
let operator: TestOperator;
before(async () => {
  service = await startHttpService();
  operator = await createTestOperator(service);
});
after(async () => {
  const violations = await auditLedger(service.database.db);
  await service.close();
  assert.deepEqual(violations, []);
});

const balanceOf = async (accountId: string) => (await findAccount(service.database.db, accountId))?.balance;
const newAccountId = async (credits: number) => (await service.newAccount(credits)).accountId;
const actionsOf = (accountId: string) => listOperatorActions(service.database.db, { accountId, limit: 100 });

function book(
  what: 'grant' | 'adjust',
  body: object,
  idempotencyKey: string | undefined = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  return operator.ask('POST', `/api/admin/v1/credits/${what}`, { body, headers });
}

test('200 a grant is an entry of the ledger with its reason, which the account can read', async () => {
  const { accountId, key } = await service.newAccount(10);
  const { data } = (await book('grant', { accountId, credits: 5, reason: 'thanks' })).json;
  const entry = data['entry'] as Record<string, unknown>;
  assert.deepEqual(
    [entry['kind'], entry['amount'], entry['balanceAfter'], entry['reason']],
    ['grant', 5, 15, 'thanks'],
  );
  const own = await service.send('GET', '/api/v1/credits?limit=1', { headers: { authorization: `Bearer ${key}` } });
  assert.deepEqual(own.json.data['entries'], [entry]);
  const page = await dataOf(operator.ask('GET', '/api/admin/v1/credits', { query: { accountId, limit: '1' } }));
  assert.deepEqual([page['accountId'], page['balance'], page['entries']], [accountId, 15, [entry]]);
  const rest = { accountId, cursor: String(page['nextCursor']) };
  const next = await dataOf(operator.ask('GET', '/api/admin/v1/credits', { query: rest }));
  assert.deepEqual(
    (next['entries'] as { amount: number }[]).map(({ amount }) => amount),
    [10],
  );
});

test('200 twenty simultaneous repeats of a grant are one grant, and all get the one answer', async () => {
  const accountId = await newAccountId(0);
  const key = randomUUID();
  const repeats = Array.from({ length: 20 }, () => book('grant', { accountId, credits: 100, reason: 'paid' }, key));
  const answers = await Promise.all(repeats);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ bytes }) => bytes.toString())).size, 1);
  assert.equal(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
  assert.equal(await balanceOf(accountId), 100);
  assert.equal((await actionsOf(accountId)).length, 1);
});

test('the balance of a closed account stays, takes no grant, and can be deducted', async () => {
  const accountId = await newAccountId(10);
  await dataOf(operator.ask('POST', '/api/admin/v1/accounts/close', { body: { accountId, reason: 'asked' } }));
  assert.equal(await balanceOf(accountId), 10);
  assertRefused(await book('grant', { accountId, credits: 5, reason: 'thanks' }), 409, /closed/);
  assert.equal((await book('adjust', { accountId, amount: -10, reason: 'not paid out' })).status, 200);
  assert.equal(await balanceOf(accountId), 0);
});

test('200 a repeated adjustment is answered as before, also when the balance could not bear it a second time', async () => {
  const accountId = await newAccountId(10);
  const key = randomUUID();
  const first = await book('adjust', { accountId, amount: -10, reason: 'wrong' }, key);
  const again = await book('adjust', { accountId, amount: -10, reason: 'wrong' }, key);
  assert.deepEqual(again.bytes, first.bytes);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal(await balanceOf(accountId), 0);
});

test('409 an Idempotency-Key books once in the whole installation, whatever else the second request asks for', async () => {
  const [accountId, other] = [await newAccountId(0), await newAccountId(0)];
  const key = randomUUID();
  const body = { accountId, credits: 5, reason: 'a' };
  assert.equal((await book('grant', body, key)).status, 200);
  for (const changed of [{ credits: 6 }, { reason: 'b' }, { accountId: other }]) {
    assertRefused(await book('grant', { ...body, ...changed }, key), 409, /with a different request/);
  }
  assertRefused(await book('adjust', { accountId, amount: 5, reason: 'a' }, key), 409, /with a different request/);
  assert.deepEqual([await balanceOf(accountId), await balanceOf(other)], [5, 0]);
});

test('409 one key for ten accounts at once is one grant', async () => {
  const accounts = await Promise.all(Array.from({ length: 10 }, () => newAccountId(0)));
  const key = randomUUID();
  const answers = await Promise.all(
    accounts.map((accountId) => book('grant', { accountId, credits: 1, reason: 'a' }, key)),
  );
  const statuses = answers.map(({ status }) => status);
  assert.deepEqual(
    [200, 409].map((status) => statuses.filter((one) => one === status).length),
    [1, 9],
  );
  const balances = await Promise.all(accounts.map(balanceOf));
  assert.equal(balances.filter((balance) => balance === 1).length, 1);
});

test('409 an adjustment never takes the balance below zero, says what it is, and changes nothing', async () => {
  const accountId = await newAccountId(10);
  const refused = await book('adjust', { accountId, amount: -11, reason: 'too much' });
  assertRefused(refused, 409, /fall below zero/, { balance: 10 });
  assert.equal(await balanceOf(accountId), 10);
  assert.deepEqual(await actionsOf(accountId), []);
  assert.equal((await book('adjust', { accountId, amount: -10, reason: 'all of it' })).status, 200);
  assert.equal(await balanceOf(accountId), 0);
});

test('409 a refused adjustment does not use up its key: it may be booked once there is money', async () => {
  const accountId = await newAccountId(0);
  const key = randomUUID();
  const body = { accountId, amount: -5, reason: 'a' };
  assert.equal((await book('adjust', body, key)).status, 409);
  await book('grant', { accountId, credits: 5, reason: 'a' });
  assert.equal((await book('adjust', body, key)).status, 200);
});

test('409 a balance beyond what can be counted is refused', async () => {
  const accountId = await newAccountId(Number.MAX_SAFE_INTEGER - 5);
  assertRefused(await book('grant', { accountId, credits: 6, reason: 'a' }), 409, /exceed its maximum/, {
    balance: Number.MAX_SAFE_INTEGER - 5,
  });
  assert.equal((await book('grant', { accountId, credits: 5, reason: 'a' })).status, 200);
});

test('200 grants, adjustments and creates at once leave books that add up', async () => {
  const { accountId, key } = await service.newAccount(1_000);
  await Promise.all(
    Array.from({ length: 8 }, (_, n) => [
      book('grant', { accountId, credits: 200, reason: `grant ${n}` }),
      book('adjust', { accountId, amount: n % 2 === 0 ? -150 : 50, reason: `adjustment ${n}` }),
      service.create(key, plainRequest),
    ]).flat(),
  );
  assert.deepEqual(await auditLedger(service.database.db), []);
});

test('404 an account that is not there', async () => {
  const accountId = randomUUID();
  assertRefused(await book('grant', { accountId, credits: 1, reason: 'a' }), 404, /account not found/);
  assertRefused(await book('adjust', { accountId, amount: 1, reason: 'a' }), 404, /account not found/);
  const shown = await operator.ask('GET', '/api/admin/v1/credits', { query: { accountId } });
  assertRefused(shown, 404, /account not found/);
});

for (const [what, change, path] of [
  ['no reason', { reason: undefined }, 'reason'],
  ['an empty reason', { reason: '' }, 'reason'],
  ['a reason of white space', { reason: ' \u00a0' }, 'reason'],
  ['a reason with a line break', { reason: 'a\nb' }, 'reason'],
  ['a reason of 501 characters', { reason: 'a'.repeat(501) }, 'reason'],
  ['no credits', { credits: 0 }, 'credits'],
  ['credits below zero', { credits: -1 }, 'credits'],
  ['half a credit', { credits: 0.5 }, 'credits'],
  ['credits as text', { credits: '5' }, 'credits'],
  ['more credits than there are', { credits: 1_000_000_000_001 }, 'credits'],
  ['an id that is none', { accountId: 'me' }, 'accountId'],
] as const) {
  test(`422 a grant with ${what}`, async () => {
    const accountId = await newAccountId(0);
    const answer = await book('grant', { accountId, credits: 1, reason: 'a', ...change });
    assert.equal(answer.status, 422);
    assert.deepEqual((answer.json.data['errors'] as { path: string }[])[0]?.path, path);
    assert.equal(await balanceOf(accountId), 0);
  });
}

test('422 an adjustment by nothing, and one field too many', async () => {
  const accountId = await newAccountId(0);
  assertRefusedWithErrors(await book('adjust', { accountId, amount: 0, reason: 'a' }));
  assertRefusedWithErrors(await book('adjust', { accountId, amount: 1, reason: 'a', currency: 'EUR' }));
});

test('422 without an Idempotency-Key, or with one that cannot be kept', async () => {
  const accountId = await newAccountId(0);
  const body = { accountId, credits: 1, reason: 'a' };
  const path = '/api/admin/v1/credits/grant';
  for (const headers of [{}, { 'idempotency-key': 'a b' }, { 'idempotency-key': 'a'.repeat(256) }]) {
    const answer = await operator.ask('POST', path, { body, headers });
    assertRefusedWithErrors(answer);
    assert.match(answer.json.msg, /^Idempotency-Key/);
  }
  assert.equal(await balanceOf(accountId), 0);
});

function assertRefusedWithErrors({ status, json }: Answer): void {
  assert.equal(status, 422);
  assert.ok(Array.isArray(json.data['errors']) && json.data['errors'].length > 0);
}
