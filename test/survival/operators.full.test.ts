import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { Attempts } from '../../activities/attempts.ts';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { isFinal, type FailCode } from '../../src/domain/task.ts';
import type { RunningPart } from '../../src/main/settings.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal, type TemporalConnection } from '../../src/temporal/connect.ts';
import type { Engine } from '../../src/domain/ports.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { triggerSchedule } from '../../src/temporal/schedules.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/callback-receiver.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { resetToFirstStep } from '../support/reset-workflow.ts';
import { ageTask } from '../support/aged.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/worker-with.ts';

// What operators do in the Temporal UI or with its CLI, and workflows that cannot end: `reconcile`, which the schedule runs
// every minute and this file every second, brings each task to its end. All of it at the same time.
/** `reconcile` leaves younger tasks to the process that accepted them, and jobs of tasks that ended later to their generation. */
const [startGraceMs, stopGraceMs] = [10_000, 30_000];

describe('an operator', { concurrency: true }, () => {
  const upstream = createFakeUpstream({ instant: false });
  /** The task of each attempt of the worker that has ended. */
  const endedAttempts: string[] = [];
  const watched = (attempts: Attempts): Attempts => ({
    begin: (taskId) => {
      const attempt = attempts.begin(taskId);
      const stop = () => {
        attempt.stop();
        endedAttempts.push(taskId);
      };
      return { signal: attempt.signal, stop };
    },
  });
  let environment: TestEnvironment;
  let accountId: string;
  let temporal: TemporalConnection;
  let engine: Engine;
  let receiver: CallbackReceiver;
  let worker: RunningPart;
  let reconciling: ReturnType<typeof setInterval>;
  before(async () => {
    environment = await createTestEnvironment({ STUCK_TASK_SECONDS: '5' });
    ({ accountId } = await createTestAccount(environment.database));
    temporal = connectTemporal(environment.settings.temporal);
    const queues = taskQueuesOf(environment.settings.taskQueue);
    engine = createEngine(temporal.client, queues);
    receiver = await startCallbackReceiver();
    worker = await startWorkerWith(environment.settings, upstream, undefined, (deps) => ({
      ...deps,
      attempts: watched(deps.attempts),
    }));
    reconciling = setInterval(() => void triggerSchedule(temporal.client, queues, 'reconcile').catch(() => {}), 1_000);
  });
  after(async () => {
    clearInterval(reconciling);
    const violations = await auditLedger(environment.database.db);
    await worker.close();
    await temporal.close();
    await receiver.close();
    await environment.close();
    assert.deepEqual(violations, []);
  });

  test('terminates: refunded, called back, and the job upstream is stopped', async () => {
    const taskId = await generating('/terminated');
    await temporal.client.workflow.getHandle(taskId).terminate('by a test');
    await endsRefunded(taskId, 'terminated', '/terminated');
    await jobStopped(taskId);
  });

  test('cancels: refunded, called back, and the job upstream is stopped', async () => {
    const taskId = await generating('/cancelled');
    await temporal.client.workflow.getHandle(taskId).cancel();
    await endsRefunded(taskId, 'cancelled', '/cancelled');
    await jobStopped(taskId);
  });

  test('deletes: refunded, called back, and the job upstream is stopped', async () => {
    const taskId = await generating('/deleted');
    await remove(taskId);
    await endsRefunded(taskId, 'terminated', '/deleted');
    await jobStopped(taskId);
  });

  test('resets in the middle of generation: the new run goes on with the same job', async () => {
    const taskId = await generating('/reset');
    await resetToFirstStep(temporal.client, taskId);
    // The old run's activity hears of it with its next heartbeat, and must leave the job alone.
    await waitFor('the new run', async () => {
      const { pendingActivities } = await engine.describeTask(taskId);
      return pendingActivities.includes('generateVideo') ? true : undefined;
    });
    await waitFor('the end of the old attempt', () => (endedAttempts.includes(taskId) ? true : undefined));
    upstream.finish(taskId);
    const task = await waitForEnd(environment.database.db, taskId);
    assert.equal(task.state, 'success', task.failure?.failMsg);
    assert.equal(upstream.jobs.filter((job) => job.taskId === taskId).length, 1);
    await receiver.waitForCallbacks('/reset', 1);
  });

  test('has a workflow whose code fails again and again: it is terminated, refunded and called back', async () => {
    const taskId = await accepted('/stuck');
    await temporal.client.workflow.start('noSuchWorkflow', {
      workflowId: taskId,
      taskQueue: taskQueuesOf(environment.settings.taskQueue).main,
    });
    await endsRefunded(taskId, 'internal', '/stuck');
    assert.equal((await engine.describeTask(taskId)).status, 'terminated');
  });

  test('has a generation that does not end at its deadline: it is terminated, refunded, called back and stopped', async () => {
    const taskId = await generating('/overdue');
    const state = async () => (await findTask(environment.database.db, taskId))?.state;
    await waitFor('the record of its job', async () => ((await state()) === 'generating' ? true : undefined));
    await administer(
      `update tasks set attempt_started_at = now() - interval '33 minutes' where id = '${taskId}' and state = 'generating'`,
    );
    await endsRefunded(taskId, 'timeout', '/overdue');
    assert.equal((await engine.describeTask(taskId)).status, 'terminated');
    await jobStopped(taskId);
  });

  test('has a task that nobody took out of the queue for more than a day: it is refunded as timeout', async () => {
    const taskId = await accepted('/queued');
    // A workflow that runs somewhere else, where no worker is.
    const taskQueue = `${taskId}-nobody`;
    await temporal.client.workflow.start('videoTask', { workflowId: taskId, taskQueue, args: [{ taskId }] });
    await administer(`update tasks set created_at = now() - interval '25 hours' where id = '${taskId}'`);
    await endsRefunded(taskId, 'timeout', '/queued');
  });

  test('deletes the workflow of a finished task: nothing happens to the task, and it is not begun again', async () => {
    const taskId = await generating('/finished');
    upstream.finish(taskId);
    const ended = await waitForEnd(environment.database.db, taskId);
    await temporal.client.workflow.getHandle(taskId).result();
    await remove(taskId);
    // Temporal takes up to half a minute over the removal of what has just been closed.
    const isGone = async () => ((await engine.describeTask(taskId)).status === 'missing' ? true : undefined);
    await waitFor('its removal', isGone);
    // A task accepted now is started by a later round of reconcile, which has been past the finished one by then.
    await waitForStart(await accepted('/later'));
    assert.deepEqual(await findTask(environment.database.db, taskId), ended);
    assert.equal((await engine.describeTask(taskId)).status, 'missing');
    assert.deepEqual(
      (await listTaskEntries(environment.database.db, taskId)).map(({ kind }) => kind),
      ['charge'],
    );
  });

  const accepted = (path: string) =>
    acceptTestTask(environment.database.db, accountId, taskParam('operated', {}, `${receiver.url}${path}`));

  async function generating(path: string): Promise<string> {
    const taskId = await accepted(path);
    await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
    await waitForStart(taskId);
    return taskId;
  }

  const waitForStart = (taskId: string) =>
    waitFor('a job', () => (upstream.jobs.some((job) => job.taskId === taskId) ? true : undefined));

  async function endsRefunded(taskId: string, failCode: FailCode, path: string): Promise<void> {
    await ageTask(environment.database, taskId, startGraceMs);
    const task = await waitForEnd(environment.database.db, taskId);
    assert.deepEqual([task.failure?.failCode, task.creditsRefunded], [failCode, 132]);
    const [callback] = await receiver.waitForCallbacks(path, 1);
    assert.match(String(callback?.body), new RegExp(`"failCode":"${failCode}"`));
    assert.ok(isFinal(task.state));
  }

  const jobStopped = async (taskId: string) => {
    await ageTask(environment.database, taskId, stopGraceMs);
    await waitFor('the end of the job upstream', () =>
      upstream.jobs.every((job) => job.taskId !== taskId || job.state === 'cancelled') ? true : undefined,
    );
  };

  async function remove(workflowId: string): Promise<void> {
    const { namespace } = environment.settings.temporal;
    await temporal.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  }

  async function administer(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: environment.database.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
});
