import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createReconcileTasksActivity } from '../../../activities/maintenance/reconcile-tasks.ts';
import type { WorkflowEngine } from '../../../src/catalogue/tasks/workflow-engine.ts';
import type { Task } from '../../../src/catalogue/tasks/task.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { installTemporalRuntime } from '../../../src/temporal/connection/temporal-runtime.ts';
import { countTasksWithFailingWorkflow } from '../../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { workerParts } from '../../support/service/worker-parts.ts';
import { createInstallation } from '../../support/service/test-installation.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { entryKinds } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The timeout of a step without a response is one second instead of ten, so that many time out within a test. */
const frozenStepTimeout = '1s';
/** Temporal's own. A step whose code fails must do so in time: the SDK reports only the first attempt, so the others take this long. */
const failingStepTimeout = '10s';

describe('a task whose workflow does not get on', { concurrency: true }, () => {
  before(() => installTemporalRuntime(createLog({ level: 'silent' })));

  test('because its worker is frozen, or too slow, is never refunded, however often its steps time out; it goes on later', () =>
    withTask(
      { stuckTaskMs: 1, workflowTaskTimeout: frozenStepTimeout },
      async ({ reconcile, describe: describeTask, attempts, task, isStuck, poll, startWorker }) => {
        // It takes every step that it is handed, and never answers.
        const thaw = new AbortController();
        const frozen = (async () => {
          while (!thaw.signal.aborted) await poll(thaw.signal);
        })().catch((error: unknown) => assert.ok(thaw.signal.aborted, String(error)));
        try {
          await waitFor('a fifth try', async () => ((await attempts()) > 4 ? true : undefined));
          await reconcile();
          assert.equal((await describeTask()).codeFailure, undefined);
          assert.equal((await task()).state, 'waiting');
          assert.equal(await isStuck(), false);
        } finally {
          thaw.abort();
          await frozen;
        }
        await startWorker();
        await waitFor('its generation', async () => ((await task()).state === 'generating' ? true : undefined));
      },
    ));

  test('because of a bad release is counted, and goes on when that is rolled back in time', () =>
    withTask(
      { stuckTaskMs: 600_000, workflowTaskTimeout: failingStepTimeout },
      async ({ reconcile, attempts, task, isStuck, settings, startWorker }) => {
        const broken = await startBrokenRelease(settings);
        try {
          await waitFor('a step that was tried again', async () => ((await attempts()) > 2 ? true : undefined));
          const isCounted = async () => {
            await reconcile();
            return (await isStuck()) ? true : undefined;
          };
          await waitFor('the task among those that are stuck', isCounted);
          assert.equal((await task()).state, 'waiting');
        } finally {
          await broken.close();
        }
        await startWorker();
        await waitFor('its generation', async () => ((await task()).state === 'generating' ? true : undefined));
        await reconcile();
        assert.equal(await isStuck(), false);
      },
    ));

  test('because of a bad release is refunded when the time to roll back is over, with the true reason, and its workflow is ended', () =>
    withTask(
      { stuckTaskMs: limitMs, workflowTaskTimeout: failingStepTimeout },
      async ({ reconcile, describe: describeTask, task, isStuck, settings, entries }) => {
        const broken = await startBrokenRelease(settings);
        try {
          const failure = await waitFor('the failure', async () => (await describeTask()).codeFailure);
          assert.match(failure.message, /this release cannot run a task/);
          const refunded = async () => {
            await reconcile();
            const { state } = await task();
            return state === 'fail' ? true : undefined;
          };
          await waitFor('the refund', refunded);
          const { failure: why, completedAt } = await task();
          assert.equal(why?.failCode, 'internal');
          assert.ok(Number(completedAt) - failure.since > limitMs);
          assert.deepEqual(await entries(), ['charge', 'refund']);
          assert.deepEqual([(await describeTask()).status, await isStuck()], ['terminated', false]);
        } finally {
          await broken.close();
        }
      },
    ));
});

const limitMs = 5_000;

type Story = {
  readonly settings: CompleteSettings;
  readonly startWorker: () => Promise<DrainablePart>;
  readonly reconcile: () => Promise<void>;
  readonly describe: () => ReturnType<WorkflowEngine['describeTask']>;
  readonly task: () => Promise<Task>;
  readonly isStuck: () => Promise<boolean>;
  /** Kinds of its entries in the ledger. */
  readonly entries: () => Promise<readonly string[]>;
  /** The number of the attempt at its workflow's next step. */
  readonly attempts: () => Promise<number>;
  /** Takes one step, as a worker does. */
  readonly poll: (signal: AbortSignal) => Promise<unknown>;
};

/** Runs the story of an accepted task whose workflow has started, while there is no worker yet. */
async function withTask(
  { stuckTaskMs, workflowTaskTimeout }: { stuckTaskMs: number; workflowTaskTimeout: '1s' | '10s' },
  story: (story: Story) => Promise<void>,
): Promise<void> {
  const { settings, db, client, engine, accept, startWorker, close } = await createInstallation();
  const deps = { ...workerParts(db, settings.dataFolder, []), engine, stuckTaskMs };
  const { taskQueue } = settings;
  try {
    const taskId = await accept();
    await db.run({ name: 'test-age', text: `update tasks set created_at = created_at - interval '20 s'` });
    const start = { workflowId: taskId, taskQueue, workflowTaskTimeout, args: [{ taskId }] };
    await client.workflow.start('videoTask', start);
    await story({
      settings,
      startWorker: () => startWorker(),
      reconcile: async () => {
        await silentActivity({ workflowId: 'reconcile' }, () => createReconcileTasksActivity(deps)());
      },
      describe: () => engine.describeTask(taskId),
      task: async () => (await findTask(db, taskId)) ?? assert.fail(),
      isStuck: async () => (await countTasksWithFailingWorkflow(db)).tasks === 1,
      entries: () => entryKinds(db, taskId),
      attempts: async () => (await client.workflow.getHandle(taskId).describe()).raw.pendingWorkflowTask?.attempt ?? 0,
      poll: (signal) => {
        const { namespace } = settings.temporal;
        const take = () => client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue } });
        return client.withAbortSignal(signal, () => client.withDeadline(Date.now() + 60_000, take));
      },
    });
  } finally {
    await close();
  }
}

/** Starts the main worker of a release whose workflow code throws. */
async function startBrokenRelease(settings: CompleteSettings): Promise<DrainablePart> {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../support/workflows/broken-workflows.js', import.meta.url)),
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
