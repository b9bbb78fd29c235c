import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';

/** The next run repeats what a run could not finish, so an outage of the payment provider is retried a few times only. */
const { reconcilePayments: compare } = proxyActivities<Pick<MainActivities, 'reconcilePayments'>>({
  startToCloseTimeout: '25m',
  scheduleToCloseTimeout: '50m',
  heartbeatTimeout: '1m',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '10s', maximumInterval: '5m', maximumAttempts: 5 },
});

/** Runs every hour. It grants what was paid without an event, and books refunds and disputes. */
export async function reconcilePayments(): Promise<{ checked: number; failed: number }> {
  return await compare();
}
