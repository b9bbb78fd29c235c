import { ActivityCancellationType, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { CallbackActivities } from '../activities/index.ts';
import { callbackPauseMs, callbackPausesMs } from '../src/domain/callback-schedule.ts';
import { taskQueuesOf } from '../src/domain/task-queues.ts';

export type DeliverCallbackInput = { readonly taskId: string; readonly accountId: string };

/** Tells the client's receiver how its task ended: signed attempts over three days, until one is answered with 2xx or 410. */
export async function deliverCallback({
  taskId,
  accountId,
}: DeliverCallbackInput): Promise<'delivered' | 'gone' | 'failed'> {
  const { sendCallback } = callbacksOf(accountId);
  let retryAfterMs: number | undefined;
  for (const [index, scheduledMs] of callbackPausesMs.entries()) {
    const pauseMs = callbackPauseMs(scheduledMs, retryAfterMs);
    if (pauseMs > 0) await sleep(pauseMs, { summary: `pause before attempt ${index + 1}` });
    const attempt = await sendCallback({ taskId, isLast: index === callbackPausesMs.length - 1 });
    if (attempt.kind !== 'failed') return attempt.kind;
    retryAfterMs = attempt.retryAfterMs;
  }
  return 'failed';
}

/** An attempt that fails is an answer, not an error: these retries are for our own faults, such as a worker that died. */
function callbacksOf(accountId: string) {
  return proxyActivities<CallbackActivities>({
    taskQueue: taskQueuesOf(workflowInfo().taskQueue).callbacks,
    startToCloseTimeout: '45s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    priority: { fairnessKey: accountId },
    summary: 'one signed attempt',
  });
}
