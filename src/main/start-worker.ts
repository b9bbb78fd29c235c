import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createCallbackActivities, createGenerationActivities, createMainActivities } from '../../activities/index.ts';
import { sweepWorkFolder } from '../../activities/task-files.ts';
import { taskQueuesOf } from '../domain/task-queues.ts';
import type { Log } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { connectTemporal } from '../temporal/connect.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import { ensureReconcileSchedule } from '../temporal/reconcile-schedule.ts';
import { makePrivateFolder } from './local-faults.ts';
import { retry } from './retry.ts';
import type { RunningPart, Settings } from './settings.ts';
import { installTemporalRuntime } from './temporal-runtime.ts';
import { openWorkerDependencies } from './worker-dependencies.ts';

/** The time in which a running activity may end by itself before it is cancelled, and the time until the worker stops anyway. */
const graceMs = 5_000;
const forceMs = 20_000;
/** Longer than the longest deadline: no attempt with an older folder is alive. */
const staleWorkMs = 26 * 60 * 60_000;

export type RunningWorker = RunningPart & {
  /** Resolves once all workers poll and the schedule exists; rejects when the worker is closed before. */
  readonly running: Promise<void>;
};

/**
 * Starts the workers of all task queues in this process. What is local is checked before this resolves; what needs Temporal is
 * retried in the background. `wrap` may replace dependencies of the activities, such as providers.
 */
export async function startWorker(
  settings: Settings,
  log: Log,
  onFatal: (error: unknown) => void,
  metrics = createMetrics(),
  wrap: (deps: ActivityDeps) => ActivityDeps = (deps) => deps,
): Promise<RunningWorker> {
  installTemporalRuntime(log);
  await access(mainQueue.workflowBundle.codePath);
  await makePrivateFolder(settings.resultStore, 'RESULT_STORE');
  await makePrivateFolder(settings.workFolder, 'VIDEOGEN_DATA');
  await sweepWorkFolder(settings.workFolder, staleWorkMs);
  const dependencies = openWorkerDependencies(settings, log, metrics);
  const deps = wrap(dependencies.deps);
  // Without the SDK's own retries, which throw from a timer once the connection is closed under them.
  const temporal = connectTemporal(settings.temporal, { retries: false });
  const stopping = new AbortController();
  const step = (name: string) => ({ step: name, log, signal: stopping.signal });
  const queues = taskQueuesOf(settings.taskQueue);
  const workers: Worker[] = [];
  const runs: Promise<void>[] = [];
  let opened: NativeConnection | undefined;
  const start = async () => {
    const connect = () => NativeConnection.connect(settings.temporal.connection);
    const connection = (opened = await retry(step('connect to Temporal'), connect));
    await retry(step('register search attributes'), () => registerSearchAttributes(temporal.client));
    for (const options of workerOptions(settings, deps)) {
      const create = () => Worker.create({ ...options, connection });
      const worker = await retry(step(`start the worker of ${options.taskQueue}`), create);
      workers.push(worker);
      const run = worker.run();
      runs.push(run);
      run.catch(onFatal);
    }
    log.info({ queues, concurrency: settings.generationConcurrency }, 'worker is running');
    // Last, since a Temporal that was restarted itself takes up to seven seconds to answer for a schedule (measured), and no
    // task must wait for that.
    await retry(step('ensure the reconcile schedule'), () => ensureReconcileSchedule(temporal.client, queues));
  };
  const running = start();
  running.catch((error: unknown) => {
    if (!stopping.signal.aborted) onFatal(error);
  });
  const close = async () => {
    stopping.abort();
    await running.catch(() => {});
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.allSettled(runs);
    // It refuses while a worker that was just being made still holds it; the process ends anyway.
    await opened?.close().catch((error: unknown) => log.warn({ err: error }, 'connection not closed'));
    await Promise.allSettled([temporal.close(), dependencies.close()]);
  };
  return { running, close };
}

function workerOptions(settings: Settings, deps: ActivityDeps): WorkerOptions[] {
  const queues = taskQueuesOf(settings.taskQueue);
  const common = {
    namespace: settings.temporal.namespace,
    shutdownGraceTime: graceMs,
    shutdownForceTime: forceMs,
    ...versionOf(settings),
  };
  return [
    { ...common, ...mainQueue, taskQueue: queues.main, activities: createMainActivities(deps) },
    {
      ...common,
      taskQueue: queues.generation,
      activities: createGenerationActivities(deps),
      maxConcurrentActivityTaskExecutions: settings.generationConcurrency,
      // Otherwise a heartbeat is held back for most of its timeout, and progress would stand still (docs/decisions.md).
      maxHeartbeatThrottleInterval: '1s',
    },
    {
      ...common,
      taskQueue: queues.remote,
      activities: createGenerationActivities(deps),
      maxConcurrentActivityTaskExecutions: settings.remoteConcurrency,
      maxHeartbeatThrottleInterval: '15s',
    },
    {
      ...common,
      taskQueue: queues.callbacks,
      activities: createCallbackActivities(deps),
      // Slow receivers hold a place for 15 seconds, and an account holds 16 of them at most (src/outbound/webhook.ts).
      maxConcurrentActivityTaskExecutions: 500,
    },
  ];
}

/** With a version, each workflow stays with the workers of the version that began it (docs/operations.md). */
function versionOf({ workerVersion, taskQueue }: Settings): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (workerVersion === undefined) return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: taskQueue, buildId: workerVersion },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/**
 * Every new workflow starts on the non-sticky queue, which gets two pollers by default. A workflow task must end within ten seconds,
 * also on a saturated machine, so a worker takes few at a time (docs/decisions.md).
 */
export const mainQueue = {
  workflowBundle: { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) },
  maxConcurrentWorkflowTaskExecutions: 12,
  maxConcurrentWorkflowTaskPolls: 12,
  nonStickyToStickyPollRatio: 0.5,
  // By default some 2,300 stay in memory, 0.1 MB each. A task whose upstream takes minutes is read from its history again instead.
  maxCachedWorkflows: 150,
} satisfies Partial<WorkerOptions>;
