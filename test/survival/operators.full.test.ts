import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import type { RunningAttempts } from '../../activities/running-attempts.ts';
import type { WorkerParts } from '../../src/run/main/wire-activities.ts';
import { isFinalState, type FailCode } from '../../src/catalogue/tasks/task.ts';
import { findTask } from '../../src/tasks/task-rows.ts';
import { ageTask } from '../support/database/aged-task.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/servers/callback-receiver.ts';
import { createInstallation, type Installation, price } from '../support/service/test-installation.ts';
import { resetToFirstStep } from '../support/workflows/reset-workflow.ts';
import { entryKinds, waitForEnd } from '../support/tasks/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

/** `reconcile` leaves younger tasks to the process that accepted them, and jobs of tasks that ended later to their generation. */
const [startGraceMs, stopGraceMs] = [10_000, 30_000];

// Operators act in the Temporal UI or with its CLI, and workflows cannot end: `reconcile` brings each task to its end.
describe('an operator', { concurrency: true }, () => {
  /** The task of each attempt of the worker that has ended. */
  const endedAttempts: string[] = [];
  const watched = (attempts: RunningAttempts): RunningAttempts => ({
    begin: (taskId) => {
      const attempt = attempts.begin(taskId);
      const stop = () => {
        attempt.stop();
        endedAttempts.push(taskId);
      };
      return { signal: attempt.signal, stop };
    },
  });
  let installation: Installation;
  let receiver: CallbackReceiver;
  let stopReconciling: () => void;
  before(async () => {
    installation = await createInstallation({ STUCK_TASK_SECONDS: '5' });
    receiver = await startCallbackReceiver();
    const withWatches = (parts: WorkerParts) => ({
      ...parts,
      watches: { ...parts.watches, attempts: watched(parts.watches.attempts) },
    });
    await installation.startWorker({ adapt: withWatches });
    stopReconciling = installation.keepReconciling();
  });
  after(async () => {
    stopReconciling();
    await receiver.close();
    await installation.close();
  });

  test('terminates: refunded, called back, and the job upstream is stopped', async () => {
    const taskId = await generating('/terminated');
    await installation.client.workflow.getHandle(taskId).terminate('by a test');
    await endsRefunded(taskId, 'terminated', '/terminated');
    await jobStopped(taskId);
  });

  test('cancels: refunded, called back, and the job upstream is stopped', async () => {
    const taskId = await generating('/cancelled');
    await installation.client.workflow.getHandle(taskId).cancel();
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
    await resetToFirstStep(installation.client, taskId);
    // The old run's activity is notified by its next heartbeat, and must leave the job alone.
    await waitFor('the new run', async () => {
      const { pendingActivities } = await installation.engine.describeTask(taskId);
      return pendingActivities.includes('generateVideo') ? true : undefined;
    });
    await waitFor('the end of the old attempt', () => (endedAttempts.includes(taskId) ? true : undefined));
    installation.upstream.finish(taskId);
    const task = await waitForEnd(installation.db, taskId);
    assert.equal(task.state, 'success', task.failure?.failMsg);
    assert.equal(installation.jobsOf(taskId).length, 1);
    await receiver.waitForCallbacks('/reset', 1);
  });

  test('has a workflow whose code fails again and again: it is terminated, refunded and called back', async () => {
    const taskId = await accepted('/stuck');
    await installation.client.workflow.start('noSuchWorkflow', {
      workflowId: taskId,
      taskQueue: installation.queues.tasks,
    });
    await endsRefunded(taskId, 'internal', '/stuck');
    assert.equal((await installation.engine.describeTask(taskId)).status, 'terminated');
  });

  test('has a generation that does not end at its deadline: it is terminated, refunded, called back and stopped', async () => {
    const taskId = await generating('/overdue');
    const state = async () => (await findTask(installation.db, taskId))?.state;
    await waitFor('the record of its job', async () => ((await state()) === 'generating' ? true : undefined));
    await administer(
      `update tasks set attempt_started_at = now() - interval '33 minutes' where id = '${taskId}' and state = 'generating'`,
    );
    await endsRefunded(taskId, 'timeout', '/overdue');
    assert.equal((await installation.engine.describeTask(taskId)).status, 'terminated');
    await jobStopped(taskId);
  });

  test('has a task that waits in a queue for more than a day: it is refunded as timeout', async () => {
    const taskId = await accepted('/queued');
    // Its workflow is in a queue without a worker.
    const taskQueue = `${taskId}-nobody`;
    await installation.client.workflow.start('videoTask', { workflowId: taskId, taskQueue, args: [{ taskId }] });
    await administer(`update tasks set created_at = now() - interval '25 hours' where id = '${taskId}'`);
    await endsRefunded(taskId, 'timeout', '/queued');
  });

  test('deletes the workflow of a finished task: nothing happens to the task, and it is not begun again', async () => {
    const taskId = await generating('/finished');
    installation.upstream.finish(taskId);
    const ended = await waitForEnd(installation.db, taskId);
    await installation.client.workflow.getHandle(taskId).result();
    await remove(taskId);
    // Temporal removes what has just been closed only after a while.
    const isRemoved = async () =>
      (await installation.engine.describeTask(taskId)).status === 'missing' ? true : undefined;
    await waitFor('its removal', isRemoved);
    // A task accepted now is started by a later run of reconcile, which passes the finished one first.
    await installation.waitForJob(await accepted('/later'));
    assert.deepEqual(await findTask(installation.db, taskId), ended);
    assert.equal((await installation.engine.describeTask(taskId)).status, 'missing');
    assert.deepEqual(await entryKinds(installation.db, taskId), ['charge']);
  });

  const accepted = (path: string) => installation.accept(receiver.url + path);
  const generating = (path: string) => installation.startGenerating(receiver.url + path);

  async function endsRefunded(taskId: string, failCode: FailCode, path: string): Promise<void> {
    await ageTask(installation.database, taskId, startGraceMs);
    const task = await waitForEnd(installation.db, taskId);
    assert.deepEqual([task.failure?.failCode, task.creditsRefunded], [failCode, price]);
    const [callback] = await receiver.waitForCallbacks(path, 1);
    assert.match(String(callback?.body), new RegExp(`"failCode":"${failCode}"`));
    assert.ok(isFinalState(task.state));
  }

  const jobStopped = async (taskId: string) => {
    await ageTask(installation.database, taskId, stopGraceMs);
    await waitFor('the end of the job upstream', () =>
      installation.jobsOf(taskId).every(({ state }) => state === 'cancelled') ? true : undefined,
    );
  };

  async function remove(workflowId: string): Promise<void> {
    const { namespace } = installation.settings.temporal;
    await installation.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  }

  async function administer(statement: string): Promise<void> {
    const client = new pg.Client({ connectionString: installation.database.url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }
});
