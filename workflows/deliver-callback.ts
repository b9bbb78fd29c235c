import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { CallbackAttempt } from '../activities/send-callback.ts';
import { callbackPauseMs, callbackPausesMs } from '../src/domain/callback.ts';
import { callbacksOf } from './steps.ts';

export type DeliverCallbackInput = {
  readonly taskId: string;
  readonly accountId: string;
  /** What came of the first attempt, when the task's own workflow has made it. */
  readonly firstAttempt?: CallbackAttempt | undefined;
};

/** Sends at once and begins the schedule anew, whatever the delivery is waiting for. */
export const redeliverSignal = defineSignal<[], 'redeliver'>('redeliver');

/** Tells the client's receiver how its task ended: signed attempts over three days, until one is answered with 2xx or 410. */
export async function deliverCallback({
  firstAttempt,
  ...delivery
}: DeliverCallbackInput): Promise<'delivered' | 'gone' | 'failed'> {
  const { sendCallback } = callbacksOf(delivery.accountId, 'scheduled');
  const redeliveries = countRedeliveries();
  let made = firstAttempt;
  for (let index = 0; ; index += 1) {
    // An attempt that was made before this workflow was there cannot have been the redelivery that came with its start.
    const seen = made === undefined ? redeliveries() : 0;
    const nextPauseMs = callbackPausesMs[index + 1];
    const isLast = nextPauseMs === undefined;
    const attempt = made ?? (await sendCallback({ taskId: delivery.taskId, isLast, nextPauseMs }));
    made = undefined;
    if (redeliveries() === seen) {
      if (attempt.kind !== 'failed') return attempt.kind;
      if (isLast) return 'failed';
      const summary = `pause before attempt ${index + 2}`;
      await condition(() => redeliveries() > seen, callbackPauseMs(nextPauseMs, attempt.retryAfterMs), { summary });
    }
    if (redeliveries() > seen) index = -1;
    if (index === -1 && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deliverCallback>(delivery);
  }
}

function countRedeliveries(): () => number {
  let count = 0;
  setHandler(redeliverSignal, () => void (count += 1));
  return () => count;
}
