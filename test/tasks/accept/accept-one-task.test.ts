import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { type Database, DatabaseBusyError } from '../../../src/platform/database/database.ts';
import { acceptTaskAlone } from '../../../src/tasks/accept/accept-one-task.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { listedTerms, requestOf, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('a task that loses a race to another request is read and tried again, five times at most', async () => {
  const accountId = await createAccount(database.db, { name: 'racing', credits: 132 });
  const task = { taskId: uuidv7(), accountId, ...requestOf(taskParam('racing')), ...listedTerms };
  const deadlock = Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  const attempt = async (losses: number) => {
    const names: string[] = [];
    const run: Database['run'] = async (statement, values) => {
      names.push(statement.name);
      const isAccepting = statement.name === 'accept-tasks-of-one-account';
      if (isAccepting && names.filter((name) => name === statement.name).length <= losses) throw deadlock;
      return database.db.run(statement, values);
    };
    const outcome = await acceptTaskAlone({ ...database.db, run }, task).catch((error: unknown) => error);
    return { outcome, names };
  };
  const tries = (count: number) => Array.from({ length: count }, () => ['explain-task', 'accept-tasks-of-one-account']);
  const lost = await attempt(5);
  assert.ok(lost.outcome instanceof DatabaseBusyError && !lost.outcome.wasSent);
  assert.deepEqual(lost.names, tries(5).flat());
  assert.equal((await findAccount(database.db, accountId))?.balance, 132);
  const won = await attempt(4);
  assert.deepEqual(won.outcome, { kind: 'accepted', taskId: task.taskId, creditsCharged: 132 });
  assert.deepEqual(won.names, tries(5).flat());
  assert.equal((await findAccount(database.db, accountId))?.balance, 0);
});
