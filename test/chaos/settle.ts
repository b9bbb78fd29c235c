import type { Client as TemporalClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import type { Database } from '../../src/stores/database.ts';
import { triggerSchedule } from '../../src/temporal/schedules.ts';
import { type Open, selectOpen } from './collect.ts';
import type { Stack } from './stack.ts';

/** So often `reconcile` is asked to run now, instead of within the minute, so that a short run stays short. */
const reconcileEveryMs = 5_000;

export type SettleOptions = {
  readonly stack: Stack;
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly limitMs: number;
  readonly waitsForBooks: boolean;
};

/**
 * Leaves the system alone until every task is final, no callback is owed, no job runs upstream and, when it
 * `waitsForBooks`, none of a failed task is uncertain, for `limitMs` at most; what is open then is
 * a violation that the checks will name.
 */
export async function settle({ stack, db, temporal, limitMs, waitsForBooks }: SettleOptions): Promise<void> {
  const giveUpAt = Date.now() + limitMs;
  let askAt = 0;
  while (Date.now() < giveUpAt) {
    const [open] = await db.run<Open>(selectOpen).catch(() => []);
    const kindJobs = [...(await stack.kinds.jobs()).values()].flat();
    const isRunning = [...stack.upstream.jobs, ...kindJobs].some(({ state }) => state === 'running');
    const isBooked = open?.jobs === 0 || !waitsForBooks;
    if (open?.tasks === 0 && open.callbacks === 0 && isBooked && !isRunning) return;
    if (Date.now() >= askAt) {
      askAt = Date.now() + reconcileEveryMs;
      await triggerSchedule(temporal, taskQueuesOf(stack.settings.taskQueue), 'reconcile').catch(() => undefined);
    }
    await delay(250);
  }
}
