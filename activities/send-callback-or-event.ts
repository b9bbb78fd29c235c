import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import {
  callbackSlotBackoffMs,
  pauseObeyingRetryAfter,
  callbackTimeoutMs,
} from '../src/tasks/callbacks/callback-schedule.ts';
import { OutboundError } from '../src/platform/outbound/outbound-error.ts';
import type { CallbackAttemptResult, CallbackSender } from '../src/tasks/callbacks/post-callback.ts';
import { type Delivery, type NewDeliveryAttempt, recordDeliveryAttempt } from '../src/tasks/callbacks/deliveries.ts';
import {
  findOwedDelivery,
  prepareUnsignedDelivery,
  type PrepareDeliveryDeps,
} from '../src/tasks/callbacks/prepare-owed-delivery.ts';
import type { TaskEventSink } from '../src/tasks/task-metric-events.ts';

export type SendCallbackDeps = PrepareDeliveryDeps & {
  readonly sender: CallbackSender;
  readonly events: TaskEventSink;
};

export type DeliveryAttemptOutcome =
  | { readonly kind: 'delivered' | 'rejected' }
  /** Nothing was sent, because the delivery has ended or is not owed. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly retryAfterMs: number | undefined };

type SentAttempt = Exclude<DeliveryAttemptOutcome, { kind: 'ended' }>;

export type SendCallbackInput = Pick<Delivery, 'deliveryId'> & {
  /** After the last attempt the delivery has failed. */
  readonly isLast: boolean;
  /** The scheduled pause after this attempt; undefined after the last one. */
  readonly nextPauseMs?: number | undefined;
};

/**
 * Makes one signed attempt at a callback or an event, and records its status and time. The body of a callback is what recordInfo returns at
 * that time, in the dialect of the task. A 2xx is success, a 410 ends the delivery, and everything else is a failure; `isLast` then ends
 * the delivery as failed. A delivery that has ended is not sent again. While it is pending, an attempt whose outcome was not recorded is
 * repeated with the same `webhook-id`.
 */
export function createSendCallbackActivity(deps: SendCallbackDeps) {
  return async ({ deliveryId, isLast, nextPauseMs }: SendCallbackInput): Promise<DeliveryAttemptOutcome> => {
    const { db, sender } = deps;
    const delivery = await findOwedDelivery(db, deliveryId);
    if (delivery === undefined) return { kind: 'ended' };
    const signal = Context.current().cancellationSignal;
    const send = async () => sender.post({ ...delivery, ...(await prepareUnsignedDelivery(deps, delivery)), signal });
    const attempt = await sender.inSlot(delivery, signal, send).catch(retryWhenBusy);
    deps.events.emit({ kind: 'callback_attempted', status: attempt.status, durationMs: attempt.durationMs });
    const outcome = outcomeOf(attempt, nextPauseMs);
    await recordDeliveryAttempt(db, {
      delivery,
      attempt,
      newState: newDeliveryState(attempt, outcome, isLast ? undefined : nextPauseMs),
    });
    return outcome;
  };
}

/** All slots are taken: the attempt is not counted, releases its slot in the worker, and is made again later, by Temporal or by the delivery workflow. */
function retryWhenBusy(error: unknown): never {
  if (!(error instanceof OutboundError) || error.kind !== 'busy') throw error;
  throw ApplicationFailure.create({
    type: 'busy',
    message: error.detail,
    nextRetryDelay: callbackSlotBackoffMs(Context.current().info.attempt, Math.random()),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Without a status, the pause counts from the latest time at which the attempt could have ended, as the stored due time does. */
function outcomeOf({ status, retryAfterMs, durationMs }: CallbackAttemptResult, nextPauseMs = 0): SentAttempt {
  if (status === undefined) return { kind: 'failed', retryAfterMs: nextPauseMs + callbackTimeoutMs - durationMs };
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'rejected' };
  return { kind: 'failed', retryAfterMs };
}

/**
 * The due time does not depend on the duration of the attempt, which would reveal the kind of a network error to clients: it counts from
 * the latest time at which the attempt could have ended.
 */
function newDeliveryState(
  { startedAt, retryAfterMs }: CallbackAttemptResult,
  { kind }: SentAttempt,
  nextPauseMs: number | undefined,
): NewDeliveryAttempt['newState'] {
  const latestEnd = startedAt + callbackTimeoutMs;
  if (kind !== 'failed' || nextPauseMs === undefined) return { state: kind, dueAt: latestEnd };
  return { state: 'pending', dueAt: latestEnd + pauseObeyingRetryAfter(nextPauseMs, retryAfterMs) };
}
