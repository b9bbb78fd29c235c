import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { after, before, test } from 'node:test';
import { createAccount } from '../../src/accounts/accounts.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 0 });
});
after(() => database.close());

async function price(...args: readonly string[]): Promise<Record<string, unknown>> {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  const { code, stdout, stderr } = await videogen(env, 'price', ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  // A command with --json prints one JSON object.
  return JSON.parse(stdout) as Record<string, unknown>;
}

const why = ['--reason', 'a contract'];

test('a price is set for one account, announced, ended and withdrawn, and every step is in the audit log', async () => {
  const from = '2099-01-01T00:00:00.000Z';
  const set = await price('set', 'videogen-2.0', '29', '--account', accountId, '--from', from, ...why);
  const expected = {
    model: 'videogen-2.0',
    accountId,
    creditsPerSecond: 29,
    fromTime: Date.parse(from),
    state: 'announced',
  };
  const who = `${userInfo().username} at the command line`;
  const { priceId, createTime, ...shown } = set;
  assert.deepEqual(shown, { ...expected, reason: 'a contract', who });
  const { models, prices } = await price('list', '--account', accountId);
  const [standard] = models as Record<string, unknown>[];
  const nextPrices = [{ creditsPerSecond: 29, fromTime: Date.parse(from) }];
  assert.deepEqual([standard?.['creditsPerSecond'], standard?.['nextPrices']], [41, nextPrices]);
  assert.deepEqual(prices, [{ priceId, createTime, ...shown }]);
  const end = await price('set', 'videogen-2.0', 'default', '--account', accountId, '--from', '90d', ...why);
  assert.equal(end['creditsPerSecond'], null);
  assert.equal((await price('withdraw', String(priceId), '--reason', 'a slip'))['state'], 'withdrawn');
  const actions = await listActions(database.db, { accountId, limit: 10 });
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['prices.withdraw', 'prices.set', 'prices.set'],
  );
});

test('an invalid price is refused with its reason', async () => {
  await assert.rejects(price('set', 'videogen-2-fast', '29', ...why), /did you mean videogen-2.0-fast\?/);
  await assert.rejects(price('set', 'videogen-2.0', '0', ...why), /from 1 to 1000000/);
  await assert.rejects(price('set', 'videogen-2.0', '1.5', ...why), /from 1 to 1000000/);
  await assert.rejects(price('set', 'videogen-2.0', '29'), /--reason/);
  await assert.rejects(price('set', 'videogen-2.0', '29', '--reason', ' '), /1 to 500 characters/);
  await assert.rejects(
    price('set', 'videogen-2.0', '29', '--from', '2020-01-01T00:00:00Z', ...why),
    /--from must not be in the past/,
  );
  const unknown = '01900000-0000-7000-8000-000000000000';
  await assert.rejects(price('set', 'videogen-2.0', '29', '--account', unknown, ...why), /account not found/);
  await assert.rejects(price('list', '--account', unknown), /account not found/);
  await assert.rejects(price('withdraw', '999', ...why), /price not found: 999/);
});
