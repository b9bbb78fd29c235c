import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import {
  type QueueName,
  queueNames,
  taskQueuesOf,
} from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';

const workflowBundle = { codePath: fileURLToPath(import.meta.resolve('#workflow-bundle')) };

/** How an activity was scheduled. Times are in seconds; 0 is none. */
export type ScheduledActivity = {
  readonly name: string;
  /** The queue, without the name of the installation. */
  readonly queue: string;
  readonly total: number;
  readonly attempt: number;
  readonly heartbeat: number;
  /** The first and the longest pause between attempts. */
  readonly pauses: readonly [number, number];
  /** The most attempts. */
  readonly attempts: number;
  /** The priority, and the account in whose turn it runs. */
  readonly order: readonly [number, string];
};

/** Starts a workflow, with workers of the queues of these played activities, and gives it to `use`. */
export async function withPlayedWorkflow<T>(
  environment: TestWorkflowEnvironment | undefined,
  { type, args, activities }: { readonly type: string; readonly args: unknown[]; readonly activities: object },
  use: (workflow: WorkflowHandle) => Promise<T>,
): Promise<T> {
  assert.ok(environment);
  const { client, nativeConnection: connection } = environment;
  const queues = taskQueuesOf(`test-${randomUUID()}`);
  const workers = await Promise.all(
    queueNames
      .filter((name) => isUsed(name, activities))
      .map((name) =>
        Worker.create({ connection, taskQueue: queues[name], activities, ...(name === 'tasks' && { workflowBundle }) }),
      ),
  );
  const runs = workers.map((worker) => worker.run());
  try {
    return await use(await client.workflow.start(type, { workflowId: randomUUID(), taskQueue: queues.tasks, args }));
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  }
}

function isUsed(name: QueueName, activities: object): boolean {
  if (name === 'tasks') return true;
  return name === 'callbacks' ? 'sendCallback' in activities : 'generateVideo' in activities;
}

/** The test server reports the limit of a workflow, ten years, for an activity without a limit of its own. */
const unlimitedSeconds = 10 * 365 * 86_400;

/** Returns the activities that the last run of a workflow has scheduled. */
export async function scheduledActivities(workflow: WorkflowHandle): Promise<readonly ScheduledActivity[]> {
  const { events } = await workflow.fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    if (!scheduled) return [];
    const { retryPolicy, priority } = scheduled;
    return {
      name: scheduled.activityType?.name ?? '',
      queue: scheduled.taskQueue?.name?.replace(/^test-.{36}-?/, '') ?? '',
      total: secondsOf(scheduled.scheduleToCloseTimeout) % unlimitedSeconds,
      attempt: secondsOf(scheduled.startToCloseTimeout),
      heartbeat: secondsOf(scheduled.heartbeatTimeout),
      pauses: [secondsOf(retryPolicy?.initialInterval), secondsOf(retryPolicy?.maximumInterval)],
      attempts: retryPolicy?.maximumAttempts ?? 0,
      order: [priority?.priorityKey ?? 0, priority?.fairnessKey ?? ''],
    };
  });
}

/** Returns the pauses of a workflow's last run, in seconds. */
export async function pausesOf(workflow: WorkflowHandle): Promise<readonly number[]> {
  const { events } = await workflow.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const timer = event.timerStartedEventAttributes;
    return timer ? [secondsOf(timer.startToFireTimeout)] : [];
  });
}

function secondsOf(duration: { readonly seconds?: unknown } | null | undefined): number {
  return Number(duration?.seconds ?? 0);
}
