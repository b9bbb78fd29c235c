import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccountKey } from '../../src/accounts/keys.ts';
import { listSpendCaps } from '../../src/credits/spend-caps.ts';
import { listActions } from '../../src/operators/operator-actions.ts';
import { setMembership } from '../../src/people/memberships.ts';
import { createUser } from '../../src/people/users.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestAccount } from '../support/service.ts';
import { plant } from '../support/superuser.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { videogen } from '../support/videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  ({ accountId } = await createTestAccount(database, 1_000));
});
after(() => database.close());

function command(...args: readonly string[]) {
  return videogen({ ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) }, ...args);
}

async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

test('a statement is printed as CSV, as a page and as JSON, by default for the last month', async () => {
  await acceptTestTask(database.db, accountId, taskParam('sold'));
  const lastMonth = `date_trunc('month', now(), 'UTC') - interval '2 days'`;
  await plant(
    database,
    `update ledger_entries set created_at = ${lastMonth}`,
    `update tasks set created_at = ${lastMonth}`,
  );
  const csv = await run('statement', accountId);
  assert.match(csv, /^month,section,createTime,model,priceName,entries,credits,description\n/);
  assert.match(csv, /,charge,,videogen-2\.0-fast,standard,1,-132,\n.*,closing_balance,.*,868,\n$/);
  assert.match(await run('statement', accountId, '--format', 'html'), /^<!doctype html>[^]*868[^]*<\/html>\n$/);
  const { opening, closing, lines } = JSON.parse(
    await run('statement', accountId, '--month', new Date().toISOString().slice(0, 7), '--json'),
  ) as Record<string, unknown>;
  assert.deepEqual([opening, closing, lines], [868, 868, []]);
  const refused = await command('statement', accountId, '--month', '2285-12');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /It must be a month that has begun, such as 2026-01\./);
});

test('caps of an account, a key and a member are set, listed with what was spent, and removed', async () => {
  const { db } = database;
  const key = await createAccountKey(db, { accountId, name: 'a', scopes: ['tasks:write'] });
  assert.ok(key.kind === 'made');
  const { keyId } = key.apiKey;
  const { userId } = await createUser(db, { email: 'ada@example.com', isOperator: false, passwordHash: undefined });
  await setMembership(db, accountId, userId, 'member');
  await run('cap', 'set', accountId, '--total', '500');
  await run('cap', 'set', accountId, '--key', keyId, '--day', '20', '--month', '300');
  const shown = await run('cap', 'set', accountId, '--member', userId, '--month', '7');
  assert.match(shown, new RegExp(`\\naccount +${accountId} {2}total +132 of 500 credits +never\\n`));
  assert.match(shown, new RegExp(`\\nmember +${userId} {2}month +0 of 7 credits +\\d{4}-\\d\\d-01T00:00:00.000Z\\n`));
  assert.equal(await run('cap', 'list', accountId), shown);
  await run('cap', 'set', accountId, '--key', keyId, '--day', 'none', '--month', 'none');
  const caps = await listSpendCaps(db, accountId);
  assert.deepEqual(
    caps.map(({ subject, period, credits }) => [subject, period, credits]),
    [
      ['account', 'total', 500],
      ['member', 'month', 7],
    ],
  );
  const [latest] = await listActions(db, { limit: 1 });
  assert.deepEqual(
    [latest?.action, latest?.accountId, latest?.keyId, latest?.details],
    ['caps.set', accountId, keyId, { subject: 'key', subjectId: keyId, day: null, month: null }],
  );
  const unknown = await command('cap', 'set', accountId, '--key', userId, '--day', '1');
  assert.deepEqual([unknown.code, unknown.stderr], [1, `key not found: ${userId}\n`]);
  assert.match((await command('cap', 'set', accountId)).stderr, /give at least one of --day, --month and --total/);
});

test('the margin shows the revenue, and granted credits as no revenue', async () => {
  const lines = await run('margin', '--from', new Date(Date.now() - 70 * 86_400_000).toISOString());
  assert.match(lines, /^No tasks\.\nGrants {2}1 entries, 1000 credits {2}worth 5\.00 USD, no revenue\n$/);
});
