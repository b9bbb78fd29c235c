import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccount } from '../../../src/credits/open-account.ts';
import { countTasksByGroup, maxCountedTasks } from '../../../src/tasks/list/count-tasks.ts';
import { ago, failedAgo, insertTask, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
let accountId: string;
let other: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'one', credits: 0 });
  other = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

const success = { state: 'success', result: '{"videoKey":"v"}', completed_at: ago(0) };
const exactly = (tasks: number) => ({ tasks, isExact: true });

test('tasks are counted by state, and failed ones by whether they were cancelled, rejected or failed', () =>
  rolledBack(database.db, async (db) => {
    for (const [times, row] of [
      [1, { state: 'waiting' }],
      [2, { state: 'queuing' }],
      [3, { state: 'generating' }],
      [4, success],
      [5, failedAgo(0, 'cancelled')],
      [2, failedAgo(0, 'content_rejected')],
      [4, failedAgo(0, 'image_invalid')],
      [3, failedAgo(0, 'timeout')],
      [4, failedAgo(0, 'internal')],
    ] as const)
      for (let tasks = 0; tasks < times; tasks += 1) await insertTask(db, accountId, row);
    for (const row of [{}, success, failedAgo(0)]) await insertTask(db, other, row);
    assert.deepEqual(await countTasksByGroup(db, { accountId }), {
      waiting: exactly(1),
      queuing: exactly(2),
      generating: exactly(3),
      success: exactly(4),
      cancelled: exactly(5),
      rejected: exactly(6),
      failed: exactly(7),
    });
  }));

test('of unfinished, failed and all tasks the newest 10,000 are counted, and a count that may be greater says so', () =>
  rolledBack(database.db, async (db) => {
    const add = (state: string, tasks: number) =>
      db.run(
        {
          name: `test-add-tasks-${state}`,
          text: `
insert into tasks (id, account_id, model, price_name, param, credits_charged, deadline_ms, request_sha256, state, fail_code, fail_msg,
  credits_refunded, result, completed_at, created_at)
select gen_random_uuid(), $1, 'm', 'standard', '{"input":{}}', 1, 1, sha256('a'), $2, case $2 when 'fail' then 'timeout' end,
  case $2 when 'fail' then 'A test.' end, case $2 when 'fail' then 1 else 0 end, case $2 when 'success' then '{}'::json end,
  case when $2 in ('fail', 'success') then now() end, now() - interval '1 day' from generate_series(1, $3)`,
        },
        [accountId, state, tasks],
      );
    const counts = () => countTasksByGroup(db, { accountId });
    await insertTask(db, accountId, success);
    await add('fail', maxCountedTasks - 1);
    const none = { queuing: exactly(0), generating: exactly(0), cancelled: exactly(0), rejected: exactly(0) };
    const failed = exactly(maxCountedTasks - 1);
    assert.deepEqual(await counts(), { ...none, waiting: exactly(0), success: exactly(1), failed });
    // All tasks are now more than those that are read, and each part has only as many.
    await add('waiting', 1);
    const success1 = { tasks: 1, isExact: false };
    assert.deepEqual(await counts(), { ...none, waiting: exactly(1), success: success1, failed });
    await add('fail', 2);
    const more = { tasks: maxCountedTasks + 1, isExact: false };
    const noneOf = { tasks: 0, isExact: false };
    assert.deepEqual(await counts(), {
      ...none,
      waiting: exactly(1),
      success: success1,
      failed: more,
      cancelled: noneOf,
      rejected: noneOf,
    });
    await add('waiting', maxCountedTasks);
    const all = await counts();
    assert.deepEqual([all.waiting, all.queuing, all.generating], [more, noneOf, noneOf]);
  }));
