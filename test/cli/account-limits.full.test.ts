import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount, findAccount } from '../../src/accounts/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 0 });
});
after(() => database.close());

async function limits(...args: readonly string[]): Promise<{ code: number | null; shown: unknown; stderr: string }> {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  const { code, stdout, stderr } = await videogen(env, 'account', 'limits', ...args, '--json');
  return { code, shown: code === 0 ? JSON.parse(stdout) : undefined, stderr };
}

test('an account gets limits of its own, keeps what is not named, and loses its rate by "default"', async () => {
  assert.deepEqual((await limits(accountId)).shown, { accountId, creates: 'default', unfinished: 1000 });
  const set = await limits(accountId, '--creates', '50/1m');
  assert.deepEqual(set.shown, { accountId, creates: '50/60s', unfinished: 1000 });
  const more = await limits(accountId, '--unfinished', '7');
  assert.deepEqual(more.shown, { accountId, creates: '50/60s', unfinished: 7 });
  const account = await findAccount(database.db, accountId);
  assert.equal(account?.maxUnfinishedTasks, 7);
  assert.deepEqual(account?.createRate, { quota: 50, windowMs: 60_000 });
  const undone = await limits(accountId, '--creates', 'default');
  assert.deepEqual(undone.shown, { accountId, creates: 'default', unfinished: 7 });
});

test('an invalid rate and an unknown account are refused', async () => {
  const invalid = await limits(accountId, '--creates', 'fast');
  assert.notEqual(invalid.code, 0);
  assert.match(invalid.stderr, /must be a rate such as 50\/10s/);
  const unknown = await limits('01900000-0000-7000-8000-000000000000');
  assert.notEqual(unknown.code, 0);
  assert.match(unknown.stderr, /account not found/);
});

test('an account is renamed', async () => {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  const { stdout } = await videogen(env, 'account', 'rename', accountId, 'Harbor Films');
  assert.equal(stdout, `Account ${accountId} is now called Harbor Films.\n`);
  assert.equal((await findAccount(database.db, accountId))?.name, 'Harbor Films');
});
