import type { Client as TemporalClient } from '@temporalio/client';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../src/platform/database/database.ts';
import { noRows } from '../../../src/platform/database/declare-statements.ts';
import { triggerSchedule } from '../../../src/temporal/schedules/schedules.ts';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { dayMs } from './buy-credits.ts';
import type { Stack } from '../stack.ts';

// Reconciliation leaves young purchases alone, for an hour or a day. Here a day takes a minute.

type Days = { readonly stack: Stack; readonly db: Database; readonly temporal: TemporalClient };

const ageTopUps = noRows<[olderThanMs: number]>({
  name: 'chaos-age-top-ups',
  text: `
update top_ups set created_at = created_at - interval '26 hours'
where state in ('open', 'processing') and created_at between now() - interval '20 hours' and now() - $1 * interval '1 ms'`,
});

/** Reconciliation compares ever more checkouts, so a long run has longer hours. */
const maxRuns = 60;

/** Lets purchases age, and runs the hourly reconciliation again and again. */
export async function passDays({ durationMs, ...days }: Days & { readonly durationMs: number }): Promise<void> {
  const everyMs = Math.max(durationMs / maxRuns, dayMs / 4);
  for (const endsAt = Date.now() + durationMs; Date.now() < endsAt;) {
    await delay(Math.min(everyMs, endsAt - Date.now()));
    await endDay(days, dayMs).catch(() => undefined);
  }
}

/** After the last order, every purchase is old enough. */
export const endDays = (days: Days): Promise<void> => endDay(days, 0);

async function endDay({ stack, db, temporal }: Days, olderThanMs: number): Promise<void> {
  await ageTopUps(db, olderThanMs);
  await triggerSchedule(temporal, taskQueuesOf(stack.settings.taskQueue), 'reconcile-payments');
}
