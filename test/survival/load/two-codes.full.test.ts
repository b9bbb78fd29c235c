import { bundleWorkflowCode, NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { wireActivities } from '../../../src/run/main/wire-activities.ts';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from '../../../src/run/main/run-until-signal.ts';
import { installTemporalRuntime } from '../../../src/temporal/connection/temporal-runtime.ts';
import { tasksQueueOptions } from '../../../src/run/main/worker-options.ts';
import { openStore } from '../../../src/media/store/open-store.ts';
import { openWorkerDependencies } from '../../../src/run/main/worker-dependencies.ts';
import type { FakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { createInstallation } from '../../support/service/test-installation.ts';
import { entryKinds, waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withUpstream } from '../../support/service/worker-with-upstream.ts';

test('a running task survives the move to a release with other workflow code, and a rollback that cannot run it', async () => {
  const { settings, db, client, engine, upstream, startGenerating, jobsOf, close } = await createInstallation();
  const today = tasksQueueOptions.workflowBundle;
  const later = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../support/workflows/later-workflows.js', import.meta.url)),
    logger: { ...console, log() {}, trace() {}, debug() {}, info() {} },
  });
  let release = await startRelease(settings, upstream, today);
  const deploy = async (workflowBundle: WorkflowBundleOption) => {
    await release.close();
    release = await startRelease(settings, upstream, workflowBundle);
  };
  /** Counts the later code's extra steps in its history. Rejects when the workflow failed. */
  const countExtraSteps = async (taskId: string) => {
    const handle = client.workflow.getHandle(taskId);
    await handle.result();
    const { events } = await handle.fetchHistory();
    return events?.filter((event) => event.timerFiredEventAttributes).length;
  };
  try {
    const older = await startGenerating();
    await deploy(later);
    const newer = await startGenerating();
    upstream.finish(older);
    assert.equal((await waitForEnd(db, older)).state, 'success');
    assert.equal(await countExtraSteps(older), 1, 'it took the step that was still ahead of it');

    await deploy(today);
    upstream.finish(newer);
    const isRefused = async () => ((await engine.describeTask(newer)).codeFailure === undefined ? undefined : true);
    await waitFor('today’s code to refuse what it did not begin', isRefused);
    await deploy(later);
    assert.equal((await waitForEnd(db, newer)).state, 'success');
    assert.equal(await countExtraSteps(newer), 2);

    for (const taskId of [older, newer]) {
      assert.equal(jobsOf(taskId).length, 1);
      assert.deepEqual(await entryKinds(db, taskId), ['charge']);
    }
  } finally {
    await release.close();
    await close();
  }
});

/** The workers of a release, which differ from today's only in their workflow code. */
async function startRelease(
  settings: CompleteSettings,
  upstream: FakeUpstream,
  workflowBundle: WorkflowBundleOption,
): Promise<DrainablePart> {
  const log = createLog({ level: 'silent' });
  await installTemporalRuntime(log);
  const opened = openWorkerDependencies(
    settings,
    log,
    createMetrics(),
    await openStore(settings, log, { writes: true }),
    () => undefined,
  );
  const activities = wireActivities(withUpstream(opened.parts, upstream));
  const connection = await NativeConnection.connect(settings.temporal.connection);
  const queues = taskQueuesOf(settings.taskQueue);
  const common = { connection, namespace: settings.temporal.namespace, shutdownGraceTime: 500 };
  const workers = await Promise.all([
    Worker.create({ ...common, workflowBundle, taskQueue: queues.tasks, activities: activities.main }),
    Worker.create({ ...common, taskQueue: queues['generation-remote'], activities: activities.generation }),
  ]);
  const runs = workers.map((worker) => worker.run());
  return {
    close: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(runs);
      await connection.close();
      await opened.close();
    },
  };
}
