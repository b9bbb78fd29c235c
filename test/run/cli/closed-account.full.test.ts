import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeAccountAs } from '../../../src/tasks/end/close-account-rows.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { listOperatorActions } from '../../../src/accounts/operators/audit-log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

let database: TestDatabase;
let accountId: string;
before(async () => {
  database = await createTestDatabase();
  const { db } = database;
  accountId = await createAccount(db, { name: 'Studio', credits: 7 });
  await closeAccountAs(db, { kind: 'command_line', name: 'ada' }, { accountId, reason: 'requested' });
});
after(() => database.close());

function run(...args: readonly string[]) {
  const env = { ...process.env, DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32) };
  return videogen(env, ...args);
}

const commands: readonly (readonly [string, () => readonly string[]])[] = [
  ['key create', () => ['--account', accountId]],
  ['credits grant', () => ['5', '--account', accountId, '--reason', 'late']],
  ['callback-secret rotate', () => ['--account', accountId]],
  ['callback-secret show', () => ['--account', 'Studio']],
  ['callback-secret rotate --events', () => ['--account', accountId]],
];
for (const [command, rest] of commands) {
  test(`videogen ${command} names the closed account in one line, and changes nothing`, async () => {
    const { code, stdout, stderr } = await run(...command.split(' '), ...rest());
    assert.deepEqual([code, stdout, stderr], [1, '', `account ${accountId} is closed for good\n`]);
    const [latest] = await listOperatorActions(database.db, { limit: 1 });
    assert.equal(latest?.action, 'accounts.close');
  });
}
