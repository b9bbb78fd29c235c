import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../src/accounts/accounts.ts';
import { redeemCode } from '../../src/credits/redemption-codes.ts';
import { listSpendCaps } from '../../src/credits/spend-caps.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 0 });
});
after(() => database.close());

async function run(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  const { code, stdout, stderr } = await videogen(env, ...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

test('codes are printed as CSV, can be redeemed, listed with their state, and withdrawn', async () => {
  const csv = await run('code', 'create', '--name', 'spring', '--credits', '500', '--count', '3');
  const [header, ...rows] = csv.trimEnd().split('\n');
  assert.equal(header, 'code,credits');
  assert.equal(rows.length, 3);
  const [code = '', credits] = rows[0]?.split(',') ?? [];
  assert.equal(credits, '500');
  assert.equal((await redeemCode(database.db, accountId, code)).kind, 'redeemed');
  const listed = await run('code', 'list');
  assert.match(listed, /^BATCH .*NAME\n[0-9a-f-]{36} {2}1 of 3 +500 +no expiry {2}spring\n$/);
  const batchId = /^[0-9a-f-]{36}/m.exec(listed)?.[0] ?? '';
  assert.equal(await run('code', 'withdraw', batchId, '--reason', 'leaked'), '2 of 3 codes are withdrawn.\n');
  const [second = ''] = rows[1]?.split(',') ?? [];
  assert.equal((await redeemCode(database.db, accountId, second)).kind, 'code_invalid');
});

test('a key is created with caps and for some models', async () => {
  const options = ['--cap-day', '20', '--cap-month', '300', '--cap-total', '4000', '--models', 'videogen-2.0'];
  await run('key', 'create', '--account', accountId, ...options);
  const caps = await listSpendCaps(database.db, accountId);
  assert.deepEqual(
    caps.map(({ subject, period, credits }) => [subject, period, credits]),
    [
      ['key', 'day', 20],
      ['key', 'month', 300],
      ['key', 'total', 4000],
    ],
  );
  const { keys } = JSON.parse(await run('key', 'list', '--account', accountId, '--json')) as {
    keys: { models: readonly string[] }[];
  };
  assert.deepEqual(keys[0]?.models, ['videogen-2.0']);
  const typo = run('key', 'create', '--account', accountId, '--models', 'videogen-2.1');
  await assert.rejects(typo, /--models: videogen-2\.1: unknown model/);
});
