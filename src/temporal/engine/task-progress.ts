import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import pTimeout from 'p-timeout';
import { generationHeartbeatSchema } from '../../catalogue/tasks/workflow-engine.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { taskWorkflowId } from '../connection/queue-names-and-workflow-ids.ts';
import { callWithin } from '../connection/connect.ts';

/** Simultaneous pollers of a task share one description of its workflow for this time. */
const sharedMs = 1_000;
/** A younger figure is returned immediately, and refreshed in the background. */
const recentMs = 3_000;
/** Limit of one call to Temporal. */
const describeLimitMs = 500;
/** A poller whose figure is older, or is the first, waits no longer than this for the refresh. */
const pollerWaitMs = 50;
/** Limits simultaneous calls, because Temporal has more important work. */
const maxCalls = 16;
const maxFigures = 10_000;

export type LiveTask = Pick<Task, 'taskId' | 'state'>;

/** The progress of a task once a refresh has ended, when the last refresh began, and the one that runs. */
type Figure = { progress: number | undefined; refreshedAt: number; refresh: Promise<void> | undefined };

/**
 * Returns the progress of a live task, 0 to 100, from the heartbeat of its generation. It never rejects or decreases. While Temporal is
 * slow or unavailable it returns the last figure, 0 without one.
 */
export function createTaskProgressReader(
  client: Client,
  now = () => performance.now(),
): (task: LiveTask) => Promise<number> {
  const figures = new LRUCache<string, Figure>({ max: maxFigures });
  const limited = pLimit(maxCalls);
  const refreshed = (taskId: string, figure: Figure): Promise<void> =>
    limited(async () => {
      figure.refreshedAt = now();
      const seen = await heartbeatOf(client, taskId).catch(() => undefined);
      // Between two attempts Temporal has no heartbeat; the figure must not decrease.
      figure.progress = Math.max(figure.progress ?? 0, seen ?? 0);
      figure.refresh = undefined;
    });
  return async ({ state, taskId }) => {
    if (state !== 'generating') return 0;
    const figure = figures.get(taskId) ?? { progress: undefined, refreshedAt: -Infinity, refresh: undefined };
    figures.set(taskId, figure);
    const ageMs = now() - figure.refreshedAt;
    if (ageMs >= sharedMs) figure.refresh ??= refreshed(taskId, figure);
    const isRecent = figure.progress !== undefined && ageMs < recentMs;
    if (!isRecent && figure.refresh !== undefined)
      await pTimeout(figure.refresh, { milliseconds: pollerWaitMs, fallback: () => undefined });
    return figure.progress ?? 0;
  };
}

/** Reads the last heartbeat. The raw description is cheaper than the SDK's. */
async function heartbeatOf(client: Client, taskId: string): Promise<number | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId: taskWorkflowId(taskId) };
  const { pendingActivities } = await callWithin(client, describeLimitMs, () =>
    client.workflowService.describeWorkflowExecution({ namespace, execution }),
  );
  const generation = pendingActivities?.find((activity) => activity.activityType?.name === 'generateVideo');
  const heartbeat = generation?.heartbeatDetails?.payloads?.[0];
  if (heartbeat === undefined || heartbeat === null) return undefined;
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  let decoded = [heartbeat];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  return generationHeartbeatSchema.safeParse(payloadConverter.fromPayload(decoded[0] ?? heartbeat)).data?.progress;
}
