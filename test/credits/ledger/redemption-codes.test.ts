import { createAccount } from '../../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { bookCreditsAs } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import {
  createCodesAs,
  listCodeBatches,
  type NewBatch,
  redeemCode,
  withdrawCodesAs,
} from '../../../src/credits/ledger/redemption-codes.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { assertRefused } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { fromConsole, newMember, type Person } from '../../support/service/person.ts';

const ada = { kind: 'command_line', name: 'ada' } as const;
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

const db = () => service.database.db;

async function newCodes(batch: Partial<NewBatch> = {}) {
  const { batchId, codes } = await createCodesAs(db(), ada, { name: 'spring', credits: 500, codes: 1, ...batch });
  const [code = ''] = codes;
  return { batchId, codes, code };
}

const newAccount = () => createAccount(db(), { name: 'a', credits: 0 });
const balanceOf = async (accountId: string) => (await findAccount(db(), accountId))?.balance;

function redeem(owner: Person, accountId: string, code: string) {
  return owner.ask('POST', '/api/console/v1/credits/redeem', { accountId, body: { code } });
}

test('a code that two accounts, or one account twice, redeem at once grants its credits once', async () => {
  const { code } = await newCodes();
  const accounts = [await newAccount(), await newAccount()];
  const all = await Promise.all([...accounts, ...accounts].map((accountId) => redeemCode(db(), accountId, code)));
  const balances = await Promise.all(accounts.map(balanceOf));
  assert.deepEqual(new Set(balances), new Set([0, 500]));
  const winner = balances.indexOf(500);
  assert.deepEqual(
    all.map(({ kind }) => kind),
    [0, 1, 0, 1].map((account) => (account === winner ? 'redeemed' : 'code_invalid')),
  );
});

test('a code is read in lower case, without dashes and with letters for digits', async () => {
  const { codes } = await newCodes({ codes: 50 });
  const code = codes.find((one) => /[01]/.test(one)) ?? assert.fail('no code has a 0 or a 1');
  assert.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
  const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `;
  assert.equal((await redeemCode(db(), await newAccount(), typed)).kind, 'redeemed');
});

test('a redemption that dies before its commit leaves the code usable, and grants nothing', async () => {
  const { code } = await newCodes();
  const accountId = await newAccount();
  const dying = {
    ...db(),
    transaction: <T>(work: Parameters<ReturnType<typeof db>['transaction']>[0]) =>
      db().transaction<T>(async (run) => {
        await work(run);
        throw new Error('the process stops before the commit');
      }),
  };
  await assert.rejects(redeemCode(dying, accountId, code), /before the commit/);
  assert.equal(await balanceOf(accountId), 0);
  assert.equal((await redeemCode(db(), accountId, code)).kind, 'redeemed');
});

test('of wrong codes sent at once, ten are checked', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => redeem(person, accountId, `WRONG-${index}`)),
  );
  const errors = answers.map(({ json }) => json.error);
  assert.equal(errors.filter((error) => error === 'code_invalid').length, 10);
  assert.equal(errors.filter((error) => error === 'too_many_code_attempts').length, 30);
});

test('200 an owner redeems a code, and repeating the request returns the same entry, as a repeat', async () => {
  const { code } = await newCodes({ name: 'spring sale' });
  const { accountId, person } = await newMember(service, 'owner', 0);
  const first = await redeem(person, accountId, code);
  const again = await redeem(person, accountId, code);
  const { entry, isRepeat } = first.json.data as { entry: Record<string, unknown>; isRepeat: boolean };
  assert.equal(isRepeat, false);
  assert.deepEqual(again.json, { ...first.json, data: { entry, isRepeat: true } });
  const { kind, amount, balanceAfter, reason } = entry;
  assert.deepEqual([kind, amount, balanceAfter, reason], ['grant', 500, 500, 'Code of spring sale']);
});

test('404 unknown, used, expired and withdrawn codes get the same error', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  const used = await newCodes();
  await redeemCode(db(), await newAccount(), used.code);
  const expired = await newCodes({ expiresAt: Date.now() - 1 });
  const withdrawn = await newCodes();
  await withdrawCodesAs(db(), ada, { batchId: withdrawn.batchId, reason: 'leaked' });
  for (const code of ['ABCD-ABCD-ABCD-ABCD', used.code, expired.code, withdrawn.code]) {
    assertRefused(await redeem(person, accountId, code), 404, /^the code is unknown, used, expired or withdrawn$/);
  }
  assert.equal(await balanceOf(accountId), 0);
});

test('429 a person who tries ten invalid codes waits, also with a valid one', async () => {
  const { accountId, person } = await newMember(service, 'owner', 0);
  for (let tries = 1; tries <= 10; tries += 1) {
    assert.equal((await redeem(person, accountId, `ABCD-${tries}`)).status, 404);
  }
  const { code } = await newCodes();
  const refused = await redeem(person, accountId, code);
  assertRefused(refused, 429, /^too many invalid codes/);
  const seconds = Number(refused.headers['retry-after']);
  assert.ok(seconds > 0);
  assert.equal(refused.headers['ratelimit'], `"codes";r=0;t=${seconds}`, 'no longer than needed');
});

test('409 a closed account, and one whose balance is full, keep the code usable', async () => {
  const { code } = await newCodes();
  const { accountId, person } = await newMember(service, 'owner', 0);
  const fill = { accountId, kind: 'grant', amount: Number.MAX_SAFE_INTEGER, reason: 'much' } as const;
  await bookCreditsAs(db(), ada, fill);
  assertRefused(await redeem(person, accountId, code), 409, /exceed its maximum/, { balance: Number.MAX_SAFE_INTEGER });
  const closed = await startHttpService({
    database: service.database,
    db: {
      ...db(),
      transaction: async (work) => {
        await closeAccountAs(db(), ada, { accountId, reason: 'asked for' });
        return db().transaction(work);
      },
    },
    console: service.deps.console,
  });
  const { cookie } = { cookie: person.cookie() ?? '' };
  const headers = { cookie, 'videogen-account': accountId, 'content-type': 'application/json' };
  const answer = await closed.send('POST', '/api/console/v1/credits/redeem', {
    headers: { ...fromConsole, ...headers, host: new URL(service.url).host },
    body: JSON.stringify({ code }),
  });
  await closed.close();
  assertRefused(answer, 409, /closed/);
  assert.equal((await redeemCode(db(), await newAccount(), code)).kind, 'redeemed');
});

test('operators create, list and withdraw batches; the audit log has every change, and no code', async () => {
  const created = await dataOf(
    operator.ask('POST', '/api/admin/v1/codes', { body: { name: 'fair', credits: 70, codes: 3, expireTime: null } }),
  );
  const { batchId, codes } = created as { batchId: string; codes: string[] };
  assert.equal(new Set(codes).size, 3);
  await redeemCode(db(), await newAccount(), codes[0] ?? '');
  const withdraw = () =>
    dataOf(operator.ask('POST', '/api/admin/v1/codes/withdraw', { body: { batchId, reason: 'leaked' } }));
  const withdrawn = await withdraw();
  assert.deepEqual(await withdraw(), withdrawn);
  const { batches } = (await dataOf(operator.ask('GET', '/api/admin/v1/codes'))) as { batches: object[] };
  assert.deepEqual(batches[0], withdrawn);
  const { createTime: _, withdrawTime, ...rest } = withdrawn;
  assert.ok(typeof withdrawTime === 'number');
  assert.deepEqual(rest, { batchId, name: 'fair', credits: 70, codes: 3, redeemed: 1, expireTime: null });
  const actions = (await listOperatorActions(db(), { limit: 2 })).map(({ action, details }) => ({ action, details }));
  assert.deepEqual(actions, [
    { action: 'codes.withdraw', details: { batchId, name: 'fair', codes: 3, redeemed: 1, reason: 'leaked' } },
    { action: 'codes.create', details: { batchId, name: 'fair', credits: 70, codes: 3, expiresAt: null } },
  ]);
});

test('404 a batch that does not exist, and 422 an expiry in the past', async () => {
  const body = { batchId: '01a1fe3b-2c75-7579-b94f-4d7024d5882f', reason: 'leaked' };
  assertRefused(
    await operator.ask('POST', '/api/admin/v1/codes/withdraw', { body }),
    404,
    /^batch of codes not found$/,
  );
  const late = { name: 'late', credits: 1, codes: 1, expireTime: Date.now() - 1 };
  const { status, json } = await operator.ask('POST', '/api/admin/v1/codes', { body: late });
  assert.equal(status, 422);
  assert.match(json.msg, /^expireTime: must be a future time/);
});

test('batches are listed with their codes and how many of them were redeemed, the newest first, up to a limit', async () => {
  const expiresAt = Date.now() + 86_400_000;
  const older = await newCodes({ name: 'older', credits: 7, codes: 3, expiresAt });
  const newer = await newCodes({ name: 'newer', credits: 8, codes: 2 });
  const equal = await newCodes({ name: 'as new', credits: 9 });
  // The newest of the installation, because other tests have batches, too.
  const text = `update code_batches set created_at = to_timestamp($2) where id = $1`;
  for (const [{ batchId }, second] of [
    [older, 4e9],
    [newer, 4e9 + 1],
    [equal, 4e9 + 1],
  ] as const)
    await db().run({ name: 'test-date-batch', text }, [batchId, second]);
  const account = await newAccount();
  for (const code of older.codes.slice(0, 2)) assert.equal((await redeemCode(db(), account, code)).kind, 'redeemed');
  await withdrawCodesAs(db(), ada, { batchId: newer.batchId, reason: 'a mistake' });
  const batches = await listCodeBatches(db(), 3);
  const withdrawnAt = batches.find(({ name }) => name === 'newer')?.withdrawnAt;
  assert.ok(withdrawnAt !== undefined && Math.abs(withdrawnAt - Date.now()) < 3_600_000);
  const batch = { redeemed: 0, createdAt: 4e12 + 1000, expiresAt: undefined, withdrawnAt: undefined };
  const expected = [
    { ...batch, batchId: equal.batchId, name: 'as new', credits: 9, codes: 1 },
    { ...batch, batchId: newer.batchId, name: 'newer', credits: 8, codes: 2, withdrawnAt },
    { ...batch, batchId: older.batchId, name: 'older', credits: 7, codes: 3, redeemed: 2, createdAt: 4e12, expiresAt },
  ];
  assert.deepEqual(batches, expected);
  assert.deepEqual(await listCodeBatches(db(), 2), expected.slice(0, 2));
});
