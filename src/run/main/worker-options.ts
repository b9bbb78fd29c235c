import type { WorkerOptions } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { type QueueName, taskQueuesOf } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import { dataConverterOf } from '../../temporal/connection/connect.ts';
import { currentTracing } from './monitoring/tracing.ts';
import { wireActivities, type WorkerParts } from './wire-activities.ts';

/** Running activities are cancelled after the first time; the worker stops after the second. */
export const workerGraceMs = 5_000;
export const workerForceMs = 20_000;

export function workerOptionsPerQueue(settings: CompleteSettings, parts: WorkerParts): WorkerOptions[] {
  const activities = wireActivities(parts);
  const queues = taskQueuesOf(settings.taskQueue);
  return settings.workerQueues.map((name) => ({
    namespace: settings.temporal.namespace,
    dataConverter: dataConverterOf(settings.temporal),
    shutdownGraceTime: workerGraceMs,
    shutdownForceTime: workerForceMs,
    ...currentTracing()?.worker,
    ...versionOf(settings),
    ...optionsOf[name](settings, activities),
    taskQueue: queues[name],
  }));
}

type Activities = ReturnType<typeof wireActivities>;
type QueueOptions = Omit<WorkerOptions, 'taskQueue'>;

const optionsOf: Record<QueueName, (settings: CompleteSettings, activities: Activities) => QueueOptions> = {
  tasks: ({ taskConcurrency }, { main }) => ({
    ...tasksQueueOptions,
    ...(currentTracing() && tracedBundle),
    activities: main,
    maxConcurrentActivityTaskExecutions: taskConcurrency,
    maxConcurrentLocalActivityExecutions: taskConcurrency,
  }),
  generation: ({ generationConcurrency }, { generation }) => ({
    activities: generation,
    maxConcurrentActivityTaskExecutions: generationConcurrency,
    // Otherwise the SDK delays heartbeats for most of their timeout, and progress would stand still (docs/decisions).
    maxHeartbeatThrottleInterval: '1s',
  }),
  'generation-remote': ({ remoteConcurrency }, { generation }) => ({
    activities: generation,
    maxConcurrentActivityTaskExecutions: remoteConcurrency,
    maxHeartbeatThrottleInterval: '15s',
  }),
  callbacks: ({ callbackConcurrency }, { callbacks }) => ({
    activities: callbacks,
    maxConcurrentActivityTaskExecutions: callbackConcurrency,
  }),
};

/** If a version is set, each workflow stays on workers of the version that started it (docs/operations/upgrade.md). */
function versionOf({ workerVersion, taskQueue }: CompleteSettings): Pick<WorkerOptions, 'workerDeploymentOptions'> {
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
 * New workflows start on the non-sticky queue, which has two pollers by default. A workflow task must end within ten seconds even on a
 * saturated machine, so a worker takes few at a time (docs/decisions).
 */
export const tasksQueueOptions = {
  workflowBundle: { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) },
  maxConcurrentWorkflowTaskExecutions: 12,
  maxConcurrentWorkflowTaskPolls: 12,
  nonStickyToStickyPollRatio: 0.5,
  // By default about 2,300 workflows of 0.1 MB each stay in memory. A task whose upstream takes minutes is replayed instead.
  maxCachedWorkflows: 150,
} satisfies Partial<WorkerOptions>;

/** Replaces the workflow bundle while traces are exported. Workers with either bundle can continue the workflows of the other. */
const tracedBundle = {
  workflowBundle: { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle-traced')) },
} satisfies Partial<WorkerOptions>;
