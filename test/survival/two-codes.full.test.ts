import { bundleWorkflowCode, NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGenerationActivities, createMainActivities } from '../../activities/index.ts';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import type { RunningPart, Settings } from '../../src/main/settings.ts';
import { installTemporalRuntime } from '../../src/main/temporal-runtime.ts';
import { mainQueue } from '../../src/main/worker-options.ts';
import { openStore } from '../../src/main/open-store.ts';
import { openWorkerDependencies } from '../../src/main/worker-dependencies.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listTaskEntries } from '../../src/stores/credits.ts';
import { connectTemporal } from '../../src/temporal/connect.ts';
import { createEngine } from '../../src/temporal/engine.ts';
import { createFakeUpstream, type FakeUpstream } from '../support/fake-upstream.ts';
import { createTestAccount, createTestEnvironment } from '../support/service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';
import { withUpstream } from '../support/worker-with.ts';

test('a running task survives the move to a release with other workflow code, and a rollback that cannot run it', async () => {
  const environment = await createTestEnvironment();
  const { settings, database } = environment;
  const upstream = createFakeUpstream({ instant: false });
  const temporal = connectTemporal(settings.temporal);
  const engine = createEngine(temporal.client, taskQueuesOf(settings.taskQueue));
  const { accountId } = await createTestAccount(database);
  const today = mainQueue.workflowBundle;
  const later = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../support/later-workflows.js', import.meta.url)),
    logger: { ...console, log() {}, trace() {}, debug() {}, info() {} },
  });
  let release = await startRelease(settings, upstream, today);
  const deploy = async (workflowBundle: WorkflowBundleOption) => {
    await release.close();
    release = await startRelease(settings, upstream, workflowBundle);
  };
  const generating = async () => {
    const taskId = await acceptTestTask(database.db, accountId, taskParam('moved'));
    await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
    await waitFor('a job', () => (upstream.jobs.some((job) => job.taskId === taskId) ? true : undefined));
    return taskId;
  };
  /** The patches that its history knows of; rejects when the workflow did not end well. */
  const stepsOf = async (taskId: string) => {
    const handle = temporal.client.workflow.getHandle(taskId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    return events?.filter((event) => event.timerFiredEventAttributes).length;
  };
  try {
    const older = await generating();
    await deploy(later);
    const newer = await generating();
    upstream.finish(older);
    assert.equal((await waitForEnd(database.db, older)).state, 'success');
    assert.equal(await stepsOf(older), 1, 'it took the step that was still ahead of it');

    await deploy(today);
    upstream.finish(newer);
    const isRefused = async () => ((await engine.describeTask(newer)).codeFailure === undefined ? undefined : true);
    await waitFor('today’s code to refuse what it did not begin', isRefused);
    await deploy(later);
    assert.equal((await waitForEnd(database.db, newer)).state, 'success');
    assert.equal(await stepsOf(newer), 2);

    for (const taskId of [older, newer]) {
      assert.equal(upstream.jobs.filter((job) => job.taskId === taskId).length, 1);
      const kinds = (await listTaskEntries(database.db, taskId)).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['charge']);
    }
    assert.deepEqual(await auditLedger(database.db), []);
  } finally {
    await release.close();
    await temporal.close();
    await environment.close();
  }
});

/** The workers of a release: today's in everything but the code of its workflows. */
async function startRelease(
  settings: Settings,
  upstream: FakeUpstream,
  workflowBundle: WorkflowBundleOption,
): Promise<RunningPart> {
  const log = createLog({ level: 'silent' });
  await installTemporalRuntime(log);
  const rooms = openWorkerDependencies(
    settings,
    log,
    createMetrics(),
    await openStore(settings, log, { writes: true }),
  );
  const deps = withUpstream(rooms.deps, upstream);
  const connection = await NativeConnection.connect(settings.temporal.connection);
  const queues = taskQueuesOf(settings.taskQueue);
  const common = { connection, namespace: settings.temporal.namespace, shutdownGraceTime: 500 };
  const workers = await Promise.all([
    Worker.create({ ...common, workflowBundle, taskQueue: queues.main, activities: createMainActivities(deps) }),
    Worker.create({ ...common, taskQueue: queues.remote, activities: createGenerationActivities(deps) }),
  ]);
  const runs = workers.map((worker) => worker.run());
  return {
    close: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(runs);
      await connection.close();
      await rooms.close();
    },
  };
}
