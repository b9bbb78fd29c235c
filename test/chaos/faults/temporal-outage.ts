import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.ts';
import { usingTemporal } from '../../../src/temporal/connection/connect.ts';
import { taskWorkflowId } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Stack } from '../stack.ts';

/** A time in which Temporal could not be reached, in Unix milliseconds. */
export type Outage = {
  readonly fromMs: number;
  readonly untilMs: number;
  /** How many tasks waited when it was back. */
  readonly backlog: number;
  /** When the workflow of each of them was started, by Temporal's clock; empty when Temporal could not be queried. */
  readonly startedAt: ReadonlyMap<string, number>;
  /** What a task took to begin before, in this run and on this machine: the median, in milliseconds. */
  readonly usualMs: number;
  /** The longest time, after it was back, in which none of them began while some still waited; in milliseconds. */
  readonly stalledMs: number;
};

const selectWaiting = {
  name: 'chaos-still-waiting',
  text: `select id from tasks where state = 'waiting' and created_at < to_timestamp($1 / 1000.0)`,
};

/** A task that was lost on the way is found by `reconcile` only, so that nothing happens for most of the minute between two of its runs. */
const lostMs = 30_000;
/** A pause that is long for this machine. */
const usualBegins = 10;

/**
 * When Temporal is back, tasks begin one after the other: the service's own pauses are of a second at most. Returns how long nothing may
 * happen. The time for all tasks has no limit, because it grows with their number and with the load of the machine.
 */
export function stallLimitOf({ usualMs }: Pick<Outage, 'usualMs'>): number {
  return lostMs + usualBegins * usualMs;
}

const selectUsual = {
  name: 'chaos-usual-begin',
  text: `
select coalesce(percentile_cont(0.5) within group (order by extract(epoch from generation_started_at - created_at)), 0) * 1000 as "usualMs"
from tasks where generation_started_at is not null`,
};

/** PostgreSQL may have been killed just before. */
async function readUsual(db: Database): Promise<{ readonly usualMs: number } | undefined> {
  const [usual] = await db.run<{ usualMs: number }>(selectUsual);
  return usual;
}

const pollMs = 50;

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
  const { usualMs } = await waitFor('the usual time', () => readUsual(db).catch(() => undefined));
  const fromMs = Date.now();
  stack.temporalProxy.cut();
  await delay(durationMs);
  const untilMs = Date.now();
  const waiting = () => db.run<{ id: string }>(selectWaiting, [untilMs]);
  const waited = (await waiting().finally(() => stack.temporalProxy.restore())).map(({ id }) => taskWorkflowId(id));
  const backlog = waited.length;
  const stalledMs = await untilBegun(async () => (await waiting()).length, stallLimitOf({ usualMs }));
  const begunMs = Date.now() - untilMs;
  // Without the times nothing is proven.
  const startedAt = await startTimes(stack, new Set(waited), fromMs).catch(() => new Map<string, number>());
  const startedMs = Math.max(...startedAt.values()) - untilMs;
  say(
    `Temporal is back; the workflows of ${backlog} tasks were started within ${startedMs} ms. After ${begunMs} ms ` +
      `${stalledMs > stallLimitOf({ usualMs }) ? 'some had not begun' : 'all had begun'}; the longest pause was ${stalledMs} ms`,
  );
  return { fromMs, untilMs, backlog, usualMs, startedAt, stalledMs };
}

/** Waits while waiting tasks begin. Returns the longest time in which none did, which ends the wait if it is beyond the limit. */
async function untilBegun(countWaiting: () => Promise<number>, limitMs: number): Promise<number> {
  let [fewest, sinceMs, longestMs] = [Infinity, Date.now(), 0];
  while (fewest > 0 && longestMs <= limitMs) {
    const waiting = await countWaiting().catch(() => fewest);
    longestMs = Math.max(longestMs, Date.now() - sinceMs);
    if (waiting < fewest) [fewest, sinceMs] = [waiting, Date.now()];
    await delay(pollMs);
  }
  return longestMs;
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
