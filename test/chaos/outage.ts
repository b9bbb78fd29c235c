import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/platform/database/database.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Stack } from './stack.ts';

/** A time in which Temporal could not be reached, in Unix milliseconds. */
export type Outage = {
  readonly fromMs: number;
  readonly untilMs: number;
  /** When every task that was accepted meanwhile had begun; undefined when that took longer than the limit. */
  readonly caughtUpAt: number | undefined;
};

const selectWaiting = {
  name: 'chaos-still-waiting',
  text: `select count(*) as waiting from tasks where state = 'waiting' and created_at < to_timestamp($1 / 1000.0)`,
};

/** Workflows that were not started for want of Temporal are begun within this time after it is back. */
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
  stack.temporalProxy.restore();
  const untilMs = Date.now();
  const begun = async () => {
    const [row] = await db.run<{ waiting: number }>(selectWaiting, [untilMs]);
    return row?.waiting === 0 ? Date.now() : undefined;
  };
  const caughtUpAt = await waitFor('the backlog', begun, 2 * catchUpLimitMs).catch(() => undefined);
  const seconds = caughtUpAt === undefined ? 'not yet' : `${(caughtUpAt - untilMs) / 1_000} s`;
  say(`Temporal is back; all that waited had begun after: ${seconds}`);
  return { fromMs, untilMs, caughtUpAt };
}
