import { ActivityCancellationType, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';
import type { HousekeepingStep } from '../src/domain/maintenance.ts';

/** The next run continues what a run could not finish, so nothing is retried. */
const { housekeep } = proxyActivities<MainActivities>({
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '6m',
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { maximumAttempts: 1 },
});

/**
 * Every ten minutes: deletes what nothing needs any more. A step that fails keeps no other from its turn, and fails the run at its end.
 * The schedule passes the steps, so that a new one changes no run that has begun.
 */
export async function housekeeping(steps: readonly HousekeepingStep[]): Promise<void> {
  const failed: HousekeepingStep[] = [];
  for (const step of steps) await housekeep(step).catch(() => failed.push(step));
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(`steps failed: ${failed.join(', ')}`);
}
