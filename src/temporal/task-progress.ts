import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { LRUCache } from 'lru-cache';
import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '../domain/task.ts';
import { taskWorkflowId } from '../domain/workflow-ids.ts';
import { within } from './connect.ts';

/** Simultaneous pollers of a task share one look at the engine for this long. */
const sharedMs = 1_000;
/** A look takes no longer than this. */
const lookLimitMs = 500;
/** A poller waits no longer than this for it, and then gets the last known figure. */
const pollerWaitMs = 50;
const maxRemembered = 10_000;

/**
 * Answers the progress of a live task, 0 to 100, from the heartbeat of its generation. Never rejects: when the engine is
 * slow or away the last known figure is the answer, 0 without one. The engine sees at most one look per task and second.
 */
export function createTaskProgress(client: Client): (task: Task) => Promise<number> {
  const looks = new LRUCache<string, number>({
    max: maxRemembered,
    ttl: sharedMs,
    fetchMethod: (taskId, lastKnown = 0) => look(client, taskId, lastKnown).catch(() => lastKnown),
  });
  return async ({ state, taskId }) => {
    if (state !== 'generating') return 0;
    return looks.peek(taskId) ?? (await inTime(looks.fetch(taskId))) ?? looks.peek(taskId, { allowStale: true }) ?? 0;
  };
}

/** What the look found, or undefined when that takes too long; it goes on, for the pollers to come. */
async function inTime(looking: Promise<number | undefined>): Promise<number | undefined> {
  const hasEnded = new AbortController();
  const late = delay(pollerWaitMs, undefined, { signal: hasEnded.signal }).catch(() => undefined);
  try {
    return await Promise.race([looking, late]);
  } finally {
    hasEnded.abort();
  }
}

/** Between two attempts the engine knows no heartbeat for a moment; the figure never goes back because of that. */
async function look(client: Client, taskId: string, lastKnown: number): Promise<number> {
  const { raw } = await within(client, lookLimitMs, () => client.workflow.getHandle(taskWorkflowId(taskId)).describe());
  const generation = raw.pendingActivities?.find((activity) => activity.activityType?.name === 'generateVideo');
  const [heartbeat] = await decoded(client, generation?.heartbeatDetails?.payloads ?? []);
  if (heartbeat === undefined) return lastKnown;
  const details: unknown = client.options.loadedDataConverter.payloadConverter.fromPayload(heartbeat);
  return Math.max(lastKnown, progressIn(details));
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
