import { z } from 'zod';
import { callbackTimeoutMs, webhookId } from './callback.ts';
import { type Delivery, type DeliveryAttempt, deliveryStates } from './deliveries.ts';
import { unixMs } from '../http/fields.ts';
import { view } from '../http/view.ts';

const callbackState = z.enum(deliveryStates);

const ownAttemptSchema = z.strictObject({
  attempt: z.int().positive(),
  startTime: unixMs.meta({ description: 'Unix milliseconds, in whole seconds.' }),
  status: z.int().nullable().meta({ description: 'The response status of the receiver; null if it was unreachable.' }),
  durationMs: z.int().nonnegative().nullable(),
  // An enum, because OpenAPI would drop the null of a literal.
  error: z.enum(['unreachable']).nullable(),
});

/** The fields that callbacks and events share. */
export const ownDeliveryFields = {
  webhookId: z.string().meta({ description: 'The `webhook-id` header, the same for every attempt.' }),
  url: z.string(),
  state: callbackState,
  createTime: unixMs,
  completeTime: unixMs.nullable(),
  nextAttemptTime: unixMs.nullable().meta({ description: 'The latest start of the next attempt; null without one.' }),
  attempts: z.array(ownAttemptSchema).meta({ description: 'Newest first, at most 100.' }),
};

export const ownCallbackSchema = z.strictObject({ taskId: z.string(), ...ownDeliveryFields }).meta({ id: 'Callback' });

type OwnAttempt = Pick<DeliveryAttempt, 'attempt' | 'startedAt' | 'durationMs' | 'status'>;

/**
 * Reports every network error alike, without its duration: a client that could distinguish `blocked` from `timeout` could scan our private
 * network. So a failed attempt appears only after the longest time an attempt may take.
 */
export function presentOwnCallback(delivery: Delivery, attempts: readonly OwnAttempt[], now: number) {
  const progress = presentProgress(delivery, attempts, now);
  return view(ownCallbackSchema, { ...delivery, taskId: delivery.deliveryId, ...progress });
}

/** The delivery of a callback or event, for its account. */
export function presentProgress(delivery: Delivery, attempts: readonly OwnAttempt[], now: number) {
  const { deliveryId, createdAt: createTime, finishedAt, dueAt } = delivery;
  const visible = attempts.filter(
    ({ status, startedAt }) => status !== undefined || startedAt + callbackTimeoutMs <= now,
  );
  const state = delivery.state === 'failed' && visible.length < attempts.length ? 'pending' : delivery.state;
  // After a failure, the latest time at which the last attempt can have ended.
  const completedAt = state === 'failed' ? wholeSeconds(dueAt) : finishedAt;
  const isWaiting = state === 'pending' && visible.length === attempts.length && dueAt > now;
  return {
    webhookId: webhookId(deliveryId),
    state,
    createTime,
    completeTime: state === 'pending' ? null : completedAt,
    nextAttemptTime: isWaiting ? wholeSeconds(dueAt) : null,
    attempts: visible.map(({ attempt, startedAt, durationMs, status }) => ({
      attempt,
      startTime: wholeSeconds(startedAt),
      status: status ?? null,
      durationMs: status === undefined ? null : durationMs,
      error: status === undefined ? ('unreachable' as const) : null,
    })),
  };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

export const deliverySchema = z
  .strictObject({
    taskId: z.string(),
    accountId: z.string(),
    url: z.string(),
    state: callbackState,
    redeliveries: z.int().meta({ description: 'Requested redeliveries.' }),
    createTime: unixMs,
    completeTime: unixMs.nullable(),
    nextAttemptTime: unixMs.nullable(),
  })
  .meta({ id: 'Delivery' });

export function presentDelivery(delivery: Delivery) {
  const { state, createdAt: createTime, finishedAt: completeTime, dueAt } = delivery;
  const nextAttemptTime = state === 'pending' ? dueAt : null;
  return view(deliverySchema, { ...delivery, taskId: delivery.deliveryId, createTime, completeTime, nextAttemptTime });
}

export const attemptSchema = z.strictObject({
  attempt: z.int().positive(),
  startTime: unixMs,
  durationMs: z.int().nonnegative(),
  status: z.int().nullable(),
  error: z.string().nullable().meta({ description: 'The kind of network error; hidden from clients.' }),
  responseHead: z.string().nullable().meta({ description: 'The first KiB of the response.' }),
});

export function presentAttempt(attempt: DeliveryAttempt) {
  const responseHead = attempt.responseHead?.toString('utf8');
  return view(attemptSchema, { ...attempt, startTime: attempt.startedAt, responseHead });
}
