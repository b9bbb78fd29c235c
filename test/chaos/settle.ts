import type { Client as TemporalClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import { taskQueuesOf } from '../../src/domain/task-queues.ts';
import type { Database } from '../../src/stores/database.ts';
import { triggerReconcile } from '../../src/temporal/reconcile-schedule.ts';
import type { Stack } from './stack.ts';

/** So often `reconcile` is asked to run now, instead of within the minute, so that a short run stays short. */
const reconcileEveryMs = 5_000;

const selectOpen = {
  name: 'chaos-open',
  text: `
select (select count(*) from tasks where state in ('waiting', 'queuing', 'generating')) as tasks,
  (select count(*) from callback_deliveries where state = 'pending') as callbacks`,
};

export type SettleOptions = {
  readonly stack: Stack;
  readonly db: Database;
  readonly temporal: TemporalClient;
  readonly limitMs: number;
};

/**
 * Leaves the system alone until every task is final and no callback is owed, for `limitMs` at most; what is open then is
 * a violation that the checks will name.
 */
export async function settle({ stack, db, temporal, limitMs }: SettleOptions): Promise<void> {
  const giveUpAt = Date.now() + limitMs;
  let askAt = 0;
  while (Date.now() < giveUpAt) {
    const [open] = await db.run<{ tasks: number; callbacks: number }>(selectOpen).catch(() => []);
    if (open?.tasks === 0 && open.callbacks === 0) return;
    if (Date.now() >= askAt) {
      askAt = Date.now() + reconcileEveryMs;
      await triggerReconcile(temporal, taskQueuesOf(stack.settings.taskQueue)).catch(() => undefined);
    }
    await delay(250);
  }
}
