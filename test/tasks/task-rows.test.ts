import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import {
  recordQueuing,
  pauseDeadlineClock,
  beginGenerationAttempt,
  touchGenerations,
} from '../../src/tasks/task-rows.ts';
import { intendOwnMachineJob, recordCreatedJob } from '../../src/tasks/jobs/job-creates.ts';
import { freeSlotAndRecordCost } from '../../src/tasks/jobs/job-ends.ts';
import { listUnfinishedTasks } from '../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { acceptBatch } from '../../src/tasks/accept/accept-statement.ts';
import { acceptTaskAlone } from '../../src/tasks/accept/accept-one-task.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { v7 as uuidv7 } from 'uuid';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { createTestAccount } from '../support/service/test-service.ts';
import { acceptTestTask, listedPrices, taskParam, requestOf } from '../support/tasks/tasks.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('the deadline of a task', () => {
  let database: TestDatabase;
  let accountId: string;
  before(async () => {
    database = await createTestDatabase();
    ({ accountId } = await createTestAccount(database, 1_000_000));
  });
  after(() => database.close());

  const run = (db: Database, text: string, values: unknown[] = []) => db.run({ name: text, text }, values);
  const accepted = () => acceptTestTask(database.db, accountId, taskParam('clock'));
  const start = async (taskId: string, deadlineMs: number, db: Database = database.db) => {
    await run(db, 'update tasks set deadline_ms = $2 where id = $1', [taskId, deadlineMs]);
    return await beginGenerationAttempt(db, taskId);
  };
  /** Works in a transaction, where now() is the same for every statement, so that times are exact. */
  const atOnce = <T>(work: (db: Database) => Promise<T>) =>
    database.db.transaction((inner) => work({ ...database.db, run: inner }));
  /** The attempt was begun so long ago, and last seen alive so long ago. */
  const attempt = (db: Database, taskId: string, startedMs: number, seenMs: number) =>
    run(
      db,
      `update tasks set attempt_started_at = now() - $2::float8 * interval '1 ms', attempt_seen_at = now() - $3::float8 * interval '1 ms' where id = $1`,
      [taskId, startedMs, seenMs],
    );
  const withJob = async (taskId: string) => {
    await intendOwnMachineJob(database.db, { taskId, ordinal: 1, provider: 'somewhere' });
    await recordCreatedJob(database.db, { taskId, ordinal: 1, jobId: 'job' });
  };
  /** Returns the rest of the deadline after an attempt that began and was last seen so long ago. */
  const leftAfter = (taskId: string, startedMs: number, seenMs: number, deadlineMs = 10 * minuteMs) =>
    atOnce(async (db) => {
      await attempt(db, taskId, startedMs, seenMs);
      return start(taskId, deadlineMs, db);
    });
  const unfinished = async (taskId: string, db = database.db) =>
    (await listUnfinishedTasks(db, { minAgeMs: 0, limit: 1000 })).find((task) => task.taskId === taskId);

  test('is stored from the catalogue at acceptance, alone or in a batch', async () => {
    for (const accept of [
      (task: Parameters<typeof acceptTaskAlone>[1]) => acceptTaskAlone(database.db, task),
      (task: Parameters<typeof acceptTaskAlone>[1]) => acceptBatch(database.db, [task], { waits: true }),
    ]) {
      const taskId = uuidv7();
      await accept({ taskId, accountId, ...requestOf(taskParam('stored')), listedPrices, deadlineMs: 2 * hourMs });
      assert.equal((await recordQueuing(database.db, taskId))?.deadlineMs, 2 * hourMs);
      assert.equal((await beginGenerationAttempt(database.db, taskId))?.leftMs, 2 * hourMs);
    }
  });

  test('is not used up by waiting for the next attempt, only by the time in which attempts were alive', async () => {
    const taskId = await accepted();
    await start(taskId, 10 * minuteMs);
    // It ran for three minutes, died unseen within fifteen seconds, and waited for more than an hour.
    const second = await leftAfter(taskId, 70 * minuteMs, 67 * minuteMs);
    assert.deepEqual([second?.leftMs, second?.isFirst], [7 * minuteMs - 15_000, false]);
    assert.equal((await leftAfter(taskId, 90 * minuteMs, 85 * minuteMs))?.leftMs, 2 * minuteMs - 30_000);
  });

  test('is not used up by attempts that are shorter than the time between two signs of life', async () => {
    const taskId = await accepted();
    await start(taskId, 10_000);
    assert.equal((await leftAfter(taskId, hourMs, hourMs, 10_000))?.leftMs, 7_500);
  });

  test('runs on while a job runs upstream without a worker, but leaves a minute to fetch its video', async () => {
    const taskId = await accepted();
    await start(taskId, 10 * minuteMs);
    await withJob(taskId);
    assert.equal((await leftAfter(taskId, 4 * minuteMs, 3 * minuteMs))?.leftMs, 6 * minuteMs);
    assert.equal((await leftAfter(taskId, 2 * hourMs, 2 * hourMs))?.leftMs, minuteMs);
    assert.ok(Number((await unfinished(taskId))?.ranMs) <= 10 * minuteMs, 'so reconcile lets it');
  });

  test('does not go on for a job that ended with its attempt', async () => {
    const taskId = await accepted();
    await start(taskId, 10 * minuteMs);
    await intendOwnMachineJob(database.db, { taskId, ordinal: 1, provider: 'here', jobId: taskId });
    assert.equal((await leftAfter(taskId, 2 * hourMs, 2 * hourMs))?.leftMs, 10 * minuteMs - 15_000);
  });

  test('ends with the job upstream: what fetching its video takes is not counted', async () => {
    const taskId = await accepted();
    await start(taskId, 10 * minuteMs);
    await withJob(taskId);
    await freeSlotAndRecordCost(database.db, { taskId, ordinal: 1 });
    assert.equal((await leftAfter(taskId, 2 * hourMs, 2 * hourMs))?.leftMs, 10 * minuteMs - 15_000);
  });

  test('is used up by an attempt that was superseded, to its end and no further', async () => {
    const taskId = await accepted();
    await start(taskId, 10 * minuteMs);
    await atOnce(async (db) => {
      await attempt(db, taskId, 2 * minuteMs, 2 * minuteMs);
      await pauseDeadlineClock(db, taskId);
    });
    await run(database.db, `update tasks set attempt_seen_at = now() - interval '1 hour' where id = $1`, [taskId]);
    assert.equal((await unfinished(taskId))?.ranMs, 2 * minuteMs);
    assert.equal((await start(taskId, 10 * minuteMs))?.leftMs, 8 * minuteMs);
  });

  test('is over when attempts have run for so long', async () => {
    const taskId = await accepted();
    await start(taskId, minuteMs);
    assert.ok(Number((await leftAfter(taskId, 5 * minuteMs, 2 * minuteMs, minuteMs))?.leftMs) <= 0);
  });

  test('is seen to be used by an attempt that is alive', async () => {
    const taskId = await accepted();
    await start(taskId, 10 * minuteMs);
    const seen = await atOnce(async (db) => {
      await attempt(db, taskId, 4 * minuteMs, 4 * minuteMs);
      await touchGenerations(db, [taskId]);
      return unfinished(taskId, db);
    });
    assert.equal(seen?.ranMs, 4 * minuteMs);
  });

  test('has no meaning once the task is final: nothing is begun, and nothing changes', async () => {
    const taskId = await accepted();
    await failAndRefund(database.db, taskId, { failCode: 'internal', failMsg: 'A test.' });
    assert.equal(await beginGenerationAttempt(database.db, taskId), undefined);
    await touchGenerations(database.db, [taskId]);
  });
});
