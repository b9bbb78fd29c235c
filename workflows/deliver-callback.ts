import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityFailure,
  condition,
  continueAsNew,
  defineSignal,
  ParentClosePolicy,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { CallbackAttempt } from '../activities/send-callback.ts';
import { callbackWorkflowId } from '../src/temporal/task-queues.ts';
import { callbackPauseMs, callbackPausesMs } from '../src/callbacks/callback.ts';
import { type Owed, owedDeliveries } from '../src/tasks/task-event.ts';
import { callbacksOf } from './steps.ts';

export type DeliverCallbackInput = {
  /** The id of the delivery, which is that of its task for a callback. The name is part of histories. */
  readonly taskId: string;
  readonly accountId: string;
  /** The outcome of the first attempt, when the workflow of the task has made it. */
  readonly firstAttempt?: CallbackAttempt | undefined;
};

/** Sends immediately and begins the schedule anew, also during a pause of the delivery. */
export const redeliverSignal = defineSignal<[], 'redeliver'>('redeliver');

type TaskToNotify = Owed & { readonly taskId: string; readonly accountId: string };

/**
 * The callback and the event, as the last step of a task. Its workflow makes their first attempts, and most need no other. What is left
 * of a schedule becomes a workflow of its own, because the task does not wait for it.
 */
export async function notifyClient({ taskId, accountId, ...owed }: TaskToNotify): Promise<void> {
  await Promise.all(owedDeliveries(taskId, owed).map((deliveryId) => notifyOnce({ taskId: deliveryId, accountId })));
}

async function notifyOnce({ taskId, accountId }: DeliverCallbackInput): Promise<void> {
  const firstAttempt = await attemptFromTask(taskId, accountId);
  if (firstAttempt === undefined || firstAttempt.kind === 'failed') {
    await startDelivery({ taskId, accountId, firstAttempt });
  }
}

/** Undefined when its outcome is unknown: there was no free slot, no worker in time, or one that died during the attempt. */
async function attemptFromTask(taskId: string, accountId: string): Promise<CallbackAttempt | undefined> {
  const { sendCallback } = callbacksOf(accountId, 'fromTask');
  try {
    return await sendCallback({ taskId, isLast: false, nextPauseMs: callbackPausesMs[1] });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

/**
 * Starts the delivery as a workflow that outlives the task. It must have started before the parent returns, else it never
 * does; one that already runs (after a reset, or started by reconcile) is left alone.
 */
async function startDelivery(delivery: DeliverCallbackInput): Promise<void> {
  const { taskId } = delivery;
  try {
    await startChild(deliverCallback, {
      workflowId: callbackWorkflowId(taskId),
      args: [delivery],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `delivery ${taskId}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** Delivers a callback or event: signed attempts over three days, until one is answered with 2xx or 410. */
export async function deliverCallback({
  firstAttempt,
  ...delivery
}: DeliverCallbackInput): Promise<CallbackAttempt['kind']> {
  const { sendCallback } = callbacksOf(delivery.accountId, 'scheduled');
  const redeliveries = countRedeliveries();
  let made = firstAttempt;
  for (let index = 0; ; index += 1) {
    // An attempt that was made before this workflow began cannot have been the redelivery that came with its start.
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
