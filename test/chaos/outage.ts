import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/platform/database/database.ts';
import { usingTemporal } from '../../src/temporal/connect.ts';
import { taskWorkflowId } from '../../src/temporal/task-queues.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Stack } from './stack.ts';

/** A time in which Temporal could not be reached, in Unix milliseconds. */
export type Outage = {
  readonly fromMs: number;
  readonly untilMs: number;
  /** How many tasks waited when it was back. */
  readonly backlog: number;
  /** When the workflow of each of them was started, by Temporal's clock; empty when Temporal could not be queried. */
  readonly startedAt: ReadonlyMap<string, number>;
  /** When all of them had begun; undefined when that took longer than the limit. */
  readonly caughtUpAt: number | undefined;
};

const selectWaiting = {
  name: 'chaos-still-waiting',
  text: `select id from tasks where state = 'waiting' and created_at < to_timestamp($1 / 1000.0)`,
};

/** The workflows that were not started for want of Temporal are started within this time after it is back. */
export const startLimitMs = 30_000;

/** And have all begun within this time. */
export const catchUpLimitMs = 60_000;

/** Cuts the service off from Temporal, without other faults until it has caught up. */
export async function unreachableTemporal({
  stack,
  db,
  durationMs,
  say,
}: {
  stack: Stack;
  db: Database;
  durationMs: number;
  say: (message: string) => void;
}): Promise<Outage> {
  say(`Temporal is unreachable for ${durationMs / 1_000} s`);
  const fromMs = Date.now();
  stack.temporalProxy.cut();
  await delay(durationMs);
  const untilMs = Date.now();
  const waiting = () => db.run<{ id: string }>(selectWaiting, [untilMs]);
  const waited = (await waiting().finally(() => stack.temporalProxy.restore())).map(({ id }) => taskWorkflowId(id));
  const backlog = waited.length;
  const begun = async () => ((await waiting()).length === 0 ? Date.now() : undefined);
  const caughtUpAt = await waitFor('the backlog', begun, 2 * catchUpLimitMs).catch(() => undefined);
  // Without the times nothing is proven.
  const startedAt = await startTimes(stack, new Set(waited), fromMs).catch(() => new Map<string, number>());
  const after = (atMs: number | undefined) => (atMs === undefined ? 'not yet' : `${(atMs - untilMs) / 1_000} s`);
  say(
    `Temporal is back; the workflows of ${backlog} tasks were started after ${after(lastOf(startedAt))}; all had begun after: ${after(caughtUpAt)}`,
  );
  return { fromMs, untilMs, backlog, startedAt, caughtUpAt };
}

/** The last of these start times; infinite if the map is empty. */
export function lastOf(startedAt: ReadonlyMap<string, number>): number {
  return startedAt.size === 0 ? Infinity : Math.max(...startedAt.values());
}

/** The start time of each of these workflows. A task that ended before its workflow was started has none. */
async function startTimes(
  { settings }: Stack,
  waited: ReadonlySet<string>,
  fromMs: number,
): Promise<ReadonlyMap<string, number>> {
  const query = `WorkflowType = 'videoTask' and StartTime >= '${new Date(fromMs).toISOString()}'`;
  const starts = new Map<string, number>();
  await usingTemporal(settings.temporal, {}, async (client) => {
    for await (const { workflowId, startTime } of client.workflow.list({ query })) {
      if (waited.has(workflowId)) starts.set(workflowId, startTime.getTime());
    }
  });
  return starts;
}
