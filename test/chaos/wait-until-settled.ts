import type { Client as TemporalClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { taskQueuesOf } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { triggerSchedule } from '../../src/temporal/schedules/schedules.ts';
import { type Open, selectOpen } from './judge/collect-evidence.ts';
import { judgePayments } from './judge/judge-payments.ts';
import { collectPayments } from './judge/payment-evidence.ts';
import { endDays } from './load/reconcile-shop-days.ts';
import type { Stack } from './stack.ts';

/** The schedules run this often, so that a short run stays short. */
const triggerEveryMs = 5_000;

export type SettleOptions = {
  readonly stack: Stack;
  readonly db: Database;
  readonly temporal: TemporalClient;
  /** The longest time in which nothing ends. */
  readonly limitMs: number;
};

/**
 * Waits, as long as something ends within `limitMs`, until every task is final, no callback is owed, no job runs upstream, no job of a failed task is
 * uncertain, and our books have what Stripe's records have. What is open then is a violation that the checks report.
 */
export async function settle({ stack, db, temporal, limitMs }: SettleOptions): Promise<void> {
  let [endsAt, fewest, triggerAt] = [Date.now() + limitMs, Infinity, 0];
  while (Date.now() < endsAt) {
    const [open] = await db.run<Open>(selectOpen).catch(() => []);
    const kindJobs = [...(await stack.kinds.jobs()).values()].flat();
    const running = kindJobs.filter(({ state }) => state === 'running').length;
    const left = open === undefined ? Infinity : open.tasks + open.callbacks + open.jobs + running;
    if (left === 0 && (await isPaid({ db, stack }))) return;
    if (left < fewest) [fewest, endsAt] = [left, Date.now() + limitMs];
    if (Date.now() >= triggerAt) {
      triggerAt = Date.now() + triggerEveryMs;
      for (const schedule of ['reconcile', 'housekeeping'] as const)
        await triggerSchedule(temporal, taskQueuesOf(stack.settings.taskQueue), schedule).catch(() => undefined);
      await endDays({ stack, db, temporal }).catch(() => undefined);
    }
    await delay(500);
  }
}

async function isPaid({ db, stack: { shop } }: Pick<SettleOptions, 'db' | 'stack'>): Promise<boolean> {
  const seen = { ordered: [], forgeries: [] };
  const payments = await collectPayments(db, shop.stripe.records).catch(() => undefined);
  return payments !== undefined && judgePayments({ ...payments, ...seen }).length === 0;
}
