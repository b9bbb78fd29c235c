import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Task } from '../domain/task.ts';
import { taskWorkflowId } from '../domain/task-queues.ts';
import { within } from './connect.ts';

/** Simultaneous pollers of a task share one look at the engine for this long. */
const sharedMs = 1_000;
/** A figure younger than this is answered at once, and looked after behind the answer. */
const recentMs = 3_000;
/** A look takes no longer than this. */
const lookLimitMs = 500;
/** A poller whose figure is older, or is the first, waits no longer than this for the look. */
const pollerWaitMs = 50;
/** Looks at the same time; the engine has better things to do than to tell of two hundred tasks at once. */
const maxLooks = 16;
const maxRemembered = 10_000;

/** A task whose progress is asked for. */
export type LiveTask = Pick<Task, 'taskId' | 'state'>;

/** What is known of a task: its figure once a look has ended, when the last look began, and the one that is under way. */
type Figure = { progress: number | undefined; lookedAt: number; looking: Promise<void> | undefined };

/**
 * Answers the progress of a live task, 0 to 100, from the heartbeat of its generation. Never rejects, and never goes back. Whoever
 * polls a task that somebody polls gets the figure of the last look, and the next look is made behind that answer. When the
 * engine is slow or away the last known figure is the answer, 0 without one. It sees at most one look per task and second.
 */
export function createTaskProgress(client: Client, now = () => performance.now()): (task: LiveTask) => Promise<number> {
  const figures = new LRUCache<string, Figure>({ max: maxRemembered });
  const inTurn = pLimit(maxLooks);
  const lookAgain = (taskId: string, figure: Figure): Promise<void> =>
    inTurn(async () => {
      figure.lookedAt = now();
      const seen = await look(client, taskId).catch(() => undefined);
      // Between two attempts the engine knows no heartbeat for a moment; the figure never goes back because of that.
      figure.progress = Math.max(figure.progress ?? 0, seen ?? 0);
      figure.looking = undefined;
    });
  return async ({ state, taskId }) => {
    if (state !== 'generating') return 0;
    const figure = figures.get(taskId) ?? { progress: undefined, lookedAt: -Infinity, looking: undefined };
    figures.set(taskId, figure);
    const ageMs = now() - figure.lookedAt;
    if (ageMs >= sharedMs) figure.looking ??= lookAgain(taskId, figure);
    const isRecent = figure.progress !== undefined && ageMs < recentMs;
    if (!isRecent && figure.looking !== undefined) await inTime(figure.looking);
    return figure.progress ?? 0;
  };
}

/** Waits for the look, unless that takes too long; it goes on, for the pollers to come. */
async function inTime(looking: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, pollerWaitMs)));
  await Promise.race([looking, late]);
  clearTimeout(timer);
}

/** Undefined when the engine knows of no heartbeat. Asks for the bare description: what the SDK's handle unpacks is not needed. */
async function look(client: Client, taskId: string): Promise<number | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId: taskWorkflowId(taskId) };
  const { pendingActivities } = await within(client, lookLimitMs, () =>
    client.workflowService.describeWorkflowExecution({ namespace, execution }),
  );
  const generation = pendingActivities?.find((activity) => activity.activityType?.name === 'generateVideo');
  const [heartbeat] = await decoded(client, generation?.heartbeatDetails?.payloads ?? []);
  if (heartbeat === undefined) return undefined;
  return progressIn(client.options.loadedDataConverter.payloadConverter.fromPayload(heartbeat));
}

/** Undoes what the payload codecs did, last one first. */
async function decoded(client: Client, payloads: Payload[]): Promise<Payload[]> {
  const codecs = client.options.loadedDataConverter.payloadCodecs;
  let plain = payloads;
  for (const codec of codecs.toReversed()) plain = await codec.decode(plain);
  return plain;
}

function progressIn(heartbeat: unknown): number {
  if (typeof heartbeat !== 'object' || heartbeat === null || !('progress' in heartbeat)) return 0;
  return typeof heartbeat.progress === 'number' ? heartbeat.progress : 0;
}
