import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';

const { settleTasks, startOwedCallbacks, deleteExpiredMedia, auditBooks } = proxyActivities<MainActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '20s',
  // The schedule comes round every minute, so a failing step gives way to the next round instead of blocking it.
  scheduleToCloseTimeout: '15m',
  retry: { initialInterval: '1s', maximumInterval: '10s', maximumAttempts: 5 },
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

/** Every minute: what a crash, an operator or the passing of time left undone (design, section 5). No step waits for another. */
export async function reconcile(): Promise<{
  started: number;
  refunded: number;
  callbacks: number;
  violations: number;
}> {
  const round = [settleTasks(), startOwedCallbacks(), deleteExpiredMedia(), auditBooks()] as const;
  await Promise.allSettled(round);
  const [tasks, callbacks, , books] = await Promise.all(round);
  return { ...tasks, callbacks: callbacks.started, violations: books.violations };
}
