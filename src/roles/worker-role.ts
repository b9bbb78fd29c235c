import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createCallbackActivities, createGenerationActivities, createMainActivities } from '../../activities/index.ts';
import { sweepWorkFolder } from '../../activities/work-folder.ts';
import { taskQueuesOf } from '../domain/task-queues.ts';
import type { Log } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { registerSearchAttributes } from '../temporal/register-search-attributes.ts';
import { ensureReconcileSchedule } from '../temporal/reconcile-schedule.ts';
import type { Role, Settings } from './settings.ts';
import { installTemporalRuntime } from './temporal-runtime.ts';
import { openWorkerRooms } from './worker-rooms.ts';

/** A running activity gets this long to end by itself before it is told to stop, and then this long to obey. */
const graceMs = 5_000;
const forceMs = 20_000;
/** Attempts that live longer than the longest deadline allows are not alive. */
const staleWorkMs = 26 * 60 * 60_000;

/**
 * Starts the workers of all three task queues in this process. Rejects when Temporal or the database cannot be reached.
 * `wrap` may put something else in the place of what the activities work with, such as other providers.
 */
export async function startWorkerRole(
  settings: Settings,
  log: Log,
  onFatal: (error: unknown) => void,
  metrics = createMetrics(),
  wrap: (deps: ActivityDeps) => ActivityDeps = (deps) => deps,
): Promise<Role> {
  installTemporalRuntime(log);
  await sweepWorkFolder(settings.workFolder, staleWorkMs);
  const rooms = openWorkerRooms(settings, log, metrics);
  const deps = wrap(rooms.deps);
  const connection = await NativeConnection.connect(settings.temporal.connection);
  await registerSearchAttributes(rooms.client);
  const queues = taskQueuesOf(settings.taskQueue);
  const common = {
    connection,
    namespace: settings.temporal.namespace,
    shutdownGraceTime: graceMs,
    shutdownForceTime: forceMs,
    ...versionOf(settings),
  };
  const workers = await Promise.all([
    Worker.create({ ...common, ...mainQueue, taskQueue: queues.main, activities: createMainActivities(deps) }),
    Worker.create({
      ...common,
      taskQueue: queues.generation,
      activities: createGenerationActivities(deps),
      maxConcurrentActivityTaskExecutions: settings.generationConcurrency,
      // Otherwise a heartbeat is held back for most of its timeout, and progress would stand still (docs/decisions.md).
      maxHeartbeatThrottleInterval: '1s',
    }),
    Worker.create({
      ...common,
      taskQueue: queues.callbacks,
      activities: createCallbackActivities(deps),
      // Slow receivers hold a place for 15 seconds, and an account holds 16 of them at most (src/outbound/webhook.ts).
      maxConcurrentActivityTaskExecutions: 500,
    }),
  ]);
  const runs = workers.map((worker) => worker.run());
  for (const run of runs) run.catch(onFatal);
  log.info({ queues, concurrency: settings.generationConcurrency }, 'worker is running');
  const close = async () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.allSettled(runs);
    await connection.close();
    await rooms.close();
  };
  try {
    // Last, since an engine that was restarted itself takes up to seven seconds to answer for a schedule (measured), and no
    // task must wait for that.
    await ensureReconcileSchedule(rooms.client, queues);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
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
 * Measured (docs/decisions.md): every new workflow starts on the non-sticky queue, which gets two pollers by default. What a worker
 * takes it must be able to do within ten seconds also on a saturated machine, so it takes few at a time and leaves the rest in the queue.
 */
export const mainQueue = {
  workflowBundle: { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) },
  maxConcurrentWorkflowTaskExecutions: 12,
  maxConcurrentWorkflowTaskPolls: 12,
  nonStickyToStickyPollRatio: 0.5,
} satisfies Partial<WorkerOptions>;
