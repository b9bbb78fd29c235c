import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';
import type { HousekeepingStep } from '../src/temporal/schedules/housekeeping-steps.ts';

/** The next run continues what a run could not finish, so nothing is retried. */
const { housekeep } = proxyActivities<MainActivities>({
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '6m',
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { maximumAttempts: 1 },
});

/**
 * Runs every ten minutes and deletes expired data. The steps are independent: if one fails, the others still run, and then the run fails.
 * The schedule passes the steps as an argument, so that adding one does not change runs in progress.
 */
export async function housekeeping(steps: readonly HousekeepingStep[]): Promise<void> {
  const failed: HousekeepingStep[] = [];
  for (const step of steps) await housekeep(step).catch(() => failed.push(step));
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(`steps failed: ${failed.join(', ')}`);
}
