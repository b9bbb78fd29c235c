import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';

const common = {
  heartbeatTimeout: '20s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
} as const;

/** Tasks that wait for money or for their start: retried within the run. */
const { reconcileTasks, startOwedCallbacks } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '5m',
  scheduleToCloseTimeout: '6m',
  retry: { initialInterval: '1s', maximumInterval: '10s', maximumAttempts: 5 },
});

/** These may be done a minute later, so that they never delay the next settling of tasks. */
const { settleProviderJobs, startClosings } = proxyActivities<MainActivities>({
  ...common,
  startToCloseTimeout: '90s',
  scheduleToCloseTimeout: '2m',
  retry: { maximumAttempts: 1 },
});

/** Every minute: what a crash, an operator or the passing of time left undone. No step waits for another. */
export async function reconcile(): Promise<{ started: number; refunded: number; callbacks: number }> {
  const steps = [reconcileTasks(), startOwedCallbacks(), settleProviderJobs(), startClosings()] as const;
  await Promise.allSettled(steps);
  const [tasks, callbacks] = await Promise.all(steps);
  return { started: tasks.started, refunded: tasks.refunded, callbacks: callbacks.started };
}
