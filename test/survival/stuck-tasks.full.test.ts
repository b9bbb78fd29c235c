import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createReconcileActivities } from '../../activities/reconcile.ts';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import type { Task } from '../../src/domain/task.ts';
import { createLog } from '../../src/log.ts';
import type { RunningPart, Settings } from '../../src/main/settings.ts';
import { installTemporalRuntime } from '../../src/main/temporal-runtime.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { countStuckTasks } from '../../src/stores/task-list.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import type { Engine } from '../../src/domain/ports.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { activityDeps } from '../support/activity-deps.ts';
import { createFakeUpstream } from '../support/fake-upstream.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { silentActivity } from '../support/silent-activity.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWorkerWith } from '../support/worker-with.ts';

/** Of a step that no worker answers: one second instead of ten, so that many time out within a test. */
const frozenStepTimeout = '1s';
/** Of a step whose code fails, which it must do in time at least once; the SDK reports the first try only, so the others take this long. */
const failingStepTimeout = '3s';

describe('a task whose workflow does not get on', { concurrency: true }, () => {
  before(() => installTemporalRuntime(createLog({ level: 'silent' })));

  test('because its worker is frozen, or too slow, is never refunded, however often its steps time out; it goes on later', () =>
    withTask(
      { stuckTaskMs: 1, workflowTaskTimeout: frozenStepTimeout },
      async ({ settle, look, attempts, task, isStuck, poll, settings }) => {
        // It takes every step that it is handed, and never answers.
        const thaw = new AbortController();
        const frozen = (async () => {
          while (!thaw.signal.aborted) await poll(thaw.signal);
        })().catch((error: unknown) => assert.ok(thaw.signal.aborted, String(error)));
        try {
          await waitFor('a fifth try', async () => ((await attempts()) > 4 ? true : undefined));
          await settle();
          assert.equal((await look()).codeFailure, undefined);
          assert.equal((await task()).state, 'waiting');
          assert.equal(await isStuck(), false);
        } finally {
          thaw.abort();
          await frozen;
        }
        const worker = await startWorkerWith(settings, createFakeUpstream());
        try {
          const ended = async () => ((await task()).state === 'success' ? true : undefined);
          await waitFor('its success', ended);
        } finally {
          await worker.close();
        }
      },
    ));

  test('because of a bad release is counted, and goes on when that is rolled back in time', () =>
    withTask(
      { stuckTaskMs: 600_000, workflowTaskTimeout: failingStepTimeout },
      async ({ settle, attempts, task, isStuck, settings }) => {
        const broken = await startBrokenRelease(settings);
        try {
          await waitFor('a step that was tried again', async () => ((await attempts()) > 2 ? true : undefined));
          const isCounted = async () => {
            await settle();
            return (await isStuck()) ? true : undefined;
          };
          await waitFor('the task among those that are stuck', isCounted);
          assert.equal((await task()).state, 'waiting');
        } finally {
          await broken.close();
        }
        const worker = await startWorkerWith(settings, createFakeUpstream({ instant: false }));
        try {
          const generating = async () => ((await task()).state === 'generating' ? true : undefined);
          await waitFor('its generation', generating);
          await settle();
          assert.equal(await isStuck(), false);
        } finally {
          await worker.close();
        }
      },
    ));

  test('because of a bad release is refunded when the time to roll back is over, with the true reason, and its workflow is ended', () =>
    withTask(
      { stuckTaskMs: limitMs, workflowTaskTimeout: failingStepTimeout },
      async ({ settle, look, task, isStuck, settings, kinds }) => {
        const broken = await startBrokenRelease(settings);
        try {
          const failure = await waitFor('the failure', async () => (await look()).codeFailure);
          assert.match(failure.message, /this release cannot run a task/);
          const refunded = async () => {
            await settle();
            const { state } = await task();
            return state === 'fail' ? true : undefined;
          };
          await waitFor('the refund', refunded);
          const { failure: why, completedAt } = await task();
          assert.equal(why?.failCode, 'internal');
          assert.ok(Number(completedAt) - failure.since > limitMs);
          assert.deepEqual(await kinds(), ['charge', 'refund']);
          assert.deepEqual([(await look()).status, await isStuck()], ['terminated', false]);
        } finally {
          await broken.close();
        }
      },
    ));
});

const limitMs = 5_000;

type Story = {
  readonly settings: Settings;
  /** A round of `reconcile`. */
  readonly settle: () => Promise<void>;
  readonly look: () => ReturnType<Engine['describeTask']>;
  readonly task: () => Promise<Task>;
  readonly isStuck: () => Promise<boolean>;
  /** Kinds of its entries in the ledger. */
  readonly kinds: () => Promise<readonly string[]>;
  /** The number of the try at its workflow's next step. */
  readonly attempts: () => Promise<number>;
  /** Takes one step, as a worker does. */
  readonly poll: (signal: AbortSignal) => Promise<unknown>;
};

/** Tells the story of an accepted task whose workflow was started, where no worker is yet. */
async function withTask(
  { stuckTaskMs, workflowTaskTimeout }: { stuckTaskMs: number; workflowTaskTimeout: '1s' | '3s' },
  story: (story: Story) => Promise<void>,
): Promise<void> {
  const environment = await createTestEnvironment();
  const { database, settings } = environment;
  const { db } = database;
  const temporal = connectTemporal(settings.temporal);
  const { client } = temporal;
  const engine = createEngine(client, taskQueuesOf(settings.taskQueue));
  const deps = { ...activityDeps(db, settings.dataFolder, []), engine, stuckTaskMs };
  try {
    const { accountId } = await createTestAccount(database);
    const taskId = await acceptTestTask(db, accountId, taskParam('stuck'));
    await db.run({ name: 'test-age', text: `update tasks set created_at = created_at - interval '20 s'` });
    const taskQueue = settings.taskQueue;
    await client.workflow.start('videoTask', {
      workflowId: taskId,
      taskQueue,
      workflowTaskTimeout,
      args: [{ taskId }],
    });
    await story({
      settings,
      settle: async () => {
        await silentActivity({ workflowId: 'reconcile' }, () => createReconcileActivities(deps).settleTasks());
      },
      look: () => engine.describeTask(taskId),
      task: async () => {
        const task = await findTask(db, taskId);
        assert.ok(task);
        return task;
      },
      isStuck: async () => (await countStuckTasks(db)) === 1,
      kinds: async () => (await listTaskEntries(db, taskId)).map(({ kind }) => kind),
      attempts: async () => (await client.workflow.getHandle(taskId).describe()).raw.pendingWorkflowTask?.attempt ?? 0,
      poll: (signal) => {
        const { namespace } = settings.temporal;
        const asked = { namespace, taskQueue: { name: taskQueue } };
        const take = () => client.workflowService.pollWorkflowTaskQueue(asked);
        return client.withAbortSignal(signal, () => client.withDeadline(Date.now() + 60_000, take));
      },
    });
    assert.deepEqual(await auditLedger(db), []);
  } finally {
    await temporal.close();
    await environment.close();
  }
}

/** A worker whose workflow code throws; of this release nobody starts the other workers. */
async function startBrokenRelease(settings: Settings): Promise<RunningPart> {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../support/broken-workflows.js', import.meta.url)),
    logger: { ...console, log() {}, trace() {}, debug() {}, info() {} },
  });
  const connection = await NativeConnection.connect(settings.temporal.connection);
  const { namespace } = settings.temporal;
  const worker = await Worker.create({ connection, namespace, workflowBundle, taskQueue: settings.taskQueue });
  const run = worker.run();
  return {
    close: async () => {
      worker.shutdown();
      await run;
      await connection.close();
    },
  };
}
