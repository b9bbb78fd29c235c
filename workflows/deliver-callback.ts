import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityCancellationType,
  ActivityFailure,
  condition,
  continueAsNew,
  defineSignal,
  ParentClosePolicy,
  proxyActivities,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { CallbackActivities } from '../activities/index.ts';
import type { DeliveryAttemptOutcome } from '../activities/send-callback-or-event.ts';
import type { DeliveryToStart } from '../src/catalogue/tasks/workflow-engine.ts';
import { callbackWorkflowId, taskQueuesOf } from '../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { pauseObeyingRetryAfter, callbackPausesMs } from '../src/tasks/callbacks/callback-schedule.ts';
import { type OwedNotifications, owedDeliveryIds } from '../src/tasks/end/task-end-event-and-delivery-ids.ts';

export type DeliverCallbackInput = DeliveryToStart & {
  /** The outcome of the first attempt, when the workflow of the task has made it. */
  readonly firstAttempt?: DeliveryAttemptOutcome | undefined;
};

/** Sends immediately and begins the schedule anew, also during a pause of the delivery. */
export const redeliverSignal = defineSignal<[], 'redeliver'>('redeliver');

type TaskToNotify = OwedNotifications & { readonly taskId: string; readonly accountId: string };

/**
 * Delivers the callback and the event of a task, as its last step. The task's workflow makes only their first attempts, which usually
 * succeed. The rest of a schedule runs in a workflow of its own, because the task does not wait for it.
 */
export async function notifyOfTaskEnd({ taskId, accountId, ...owed }: TaskToNotify): Promise<void> {
  await Promise.all(owedDeliveryIds(taskId, owed).map((deliveryId) => notifyOnce({ deliveryId, accountId })));
}

async function notifyOnce({ deliveryId, accountId }: DeliverCallbackInput): Promise<void> {
  const firstAttempt = await makeFirstAttempt(deliveryId, accountId);
  if (firstAttempt === undefined || firstAttempt.kind === 'failed') {
    await startDelivery({ deliveryId, accountId, firstAttempt });
  }
}

/**
 * Returns undefined if nothing was sent or the outcome is unknown: no slot was
 * free, no worker was available in time, or the worker died during the attempt.
 */
async function makeFirstAttempt(deliveryId: string, accountId: string): Promise<DeliveryAttemptOutcome | undefined> {
  const { sendCallback } = callbacksOf(accountId, 'fromTask');
  try {
    return await sendCallback({ deliveryId, isLast: false, nextPauseMs: callbackPausesMs[1] });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

/**
 * Starts the delivery as a workflow that outlives the task. The start is awaited, because a child that has not started when its parent
 * completes never starts. A delivery that already runs, after a reset or because `reconcile` started it, is left alone.
 */
async function startDelivery(delivery: DeliverCallbackInput): Promise<void> {
  const { deliveryId } = delivery;
  try {
    await startChild(deliverCallback, {
      workflowId: callbackWorkflowId(deliveryId),
      args: [delivery],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `delivery ${deliveryId}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/**
 * Delivers a callback or an event: makes signed attempts over three days or more, until the receiver responds with 2xx or 410, or the last attempt
 * has failed. A redelivery starts the schedule anew.
 */
export async function deliverCallback({
  firstAttempt,
  ...delivery
}: DeliverCallbackInput): Promise<DeliveryAttemptOutcome['kind']> {
  const redeliveries = countRedeliveries();
  for (let made = firstAttempt; ; made = undefined) {
    // The next attempt serves the redeliveries that were requested before it. An attempt that was made before this workflow began serves
    // none, so a redelivery that has arrived since restarts the schedule.
    const seen = made === undefined ? redeliveries() : 0;
    const end = await followSchedule(delivery, made, () => redeliveries() > seen);
    if (end !== 'redelivered') return end;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deliverCallback>(delivery);
  }
}

/**
 * Makes the attempts of one schedule. `made` is the outcome of a first attempt that was made before. Returns `redelivered` if a redelivery
 * interrupts the schedule.
 */
async function followSchedule(
  { deliveryId, accountId }: DeliverCallbackInput,
  made: DeliveryAttemptOutcome | undefined,
  isRedelivered: () => boolean,
): Promise<DeliveryAttemptOutcome['kind'] | 'redelivered'> {
  const { sendCallback } = callbacksOf(accountId, 'scheduled');
  for (let index = 0; ; index += 1) {
    const nextPauseMs = callbackPausesMs[index + 1];
    const isLast = nextPauseMs === undefined;
    const attempt = (index === 0 ? made : undefined) ?? (await sendCallback({ deliveryId, isLast, nextPauseMs }));
    if (isRedelivered()) return 'redelivered';
    if (attempt.kind !== 'failed') return attempt.kind;
    if (isLast) return 'failed';
    const summary = `pause before attempt ${index + 2}`;
    await condition(isRedelivered, pauseObeyingRetryAfter(nextPauseMs, attempt.retryAfterMs), { summary });
    if (isRedelivered()) return 'redelivered';
  }
}

function countRedeliveries(): () => number {
  let count = 0;
  setHandler(redeliverSignal, () => void (count += 1));
  return () => count;
}

/**
 * Retries of an attempt at a callback. A failed attempt is a result, not an error: these are for our own errors, such as no free slot
 * or a dead worker. The attempt that a task makes itself is not retried, and has a short limit.
 */
const callbackAttempts = {
  fromTask: { scheduleToCloseTimeout: '1m', retry: { maximumAttempts: 1 } },
  scheduled: { retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } },
} as const;

function callbacksOf(accountId: string, attempt: keyof typeof callbackAttempts) {
  return proxyActivities<CallbackActivities>({
    taskQueue: taskQueuesOf(workflowInfo().taskQueue).callbacks,
    startToCloseTimeout: '45s',
    ...callbackAttempts[attempt],
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    priority: { fairnessKey: accountId },
    summary: 'one signed attempt',
  });
}
