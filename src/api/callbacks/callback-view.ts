import { z } from 'zod';
import { callbackTimeoutMs } from '../../tasks/callbacks/callback-schedule.ts';
import { webhookId } from '../../tasks/callbacks/deliveries.ts';
import {
  type Delivery,
  type DeliveryAttempt,
  deliveryStates,
  maxStoredAttempts,
  type RecordedAttempt,
} from '../../tasks/callbacks/deliveries.ts';
import { eventTypes } from '../../tasks/callbacks/account-event-types-and-body.ts';
import { hiddenValue, maxRecordedBodyChars } from '../../tasks/callbacks/recorded-exchange.ts';
import {
  recordedErrorKind,
  isPublicReceiverError,
  type ReceiverErrorKind,
  receiverErrorForAccount,
  receiverErrorKinds,
} from '../../tasks/callbacks/receiver-error.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

/** The part of an attempt, and of a test, that explains its failure. */
export const deliveryErrorSchema = z
  .enum([...receiverErrorKinds, 'redirected'])
  .nullable()
  .meta({
    description:
      'Why nothing was delivered, other than by the status. `redirected`: redirects are not followed; register the URL that they lead to, ' +
      'such as the one with https:// or www. `unreachable`: the name does not resolve, or leads to an address that is not public. The ' +
      'other errors are those of public receivers that gave no response.',
  });

/** Takes the status of the response, or why there was none. */
export function deliveryErrorOfOutcome(outcome: number | ReceiverErrorKind): z.output<typeof deliveryErrorSchema> {
  if (typeof outcome !== 'number') return outcome;
  return outcome >= 300 && outcome < 400 ? 'redirected' : null;
}

const attemptSchema = z.strictObject({
  attempt: z.int().positive(),
  startTime: unixMsSchema.meta({ description: 'Unix milliseconds, in whole seconds.' }),
  status: z.int().nullable().meta({ description: 'The response status of the receiver; null if it was unreachable.' }),
  durationMs: z.int().nonnegative().nullable(),
  error: deliveryErrorSchema,
});

const headersSchema = z.array(z.strictObject({ name: z.string(), value: z.string() }));

export const attemptDetailsSchema = z
  .strictObject({
    webhookId: z.string(),
    url: z.string().meta({ description: 'The present URL of the callback or event.' }),
    ...attemptSchema.shape,
    request: z
      .strictObject({
        headers: headersSchema.meta({ description: `The values of signatures are \`${hiddenValue}\`.` }),
        body: z.string().meta({ description: `The first ${maxRecordedBodyChars} characters.` }),
        isBodyCut: z.boolean(),
      })
      .nullable(),
    response: z
      .strictObject({
        headers: headersSchema.meta({ description: 'The first KiB.' }),
        body: z.string().meta({ description: 'The first KiB.' }),
      })
      .nullable()
      .meta({ description: 'Null without a response, and for a receiver in a private network.' }),
    isResponseHidden: z.boolean().meta({ description: 'True for the response of a receiver in a private network.' }),
  })
  .meta({ id: 'DeliveryAttempt' });

export const deliveryFields = {
  webhookId: z.string().meta({ description: 'The `webhook-id` header, the same for every attempt.' }),
  url: z.string(),
  state: z.enum(deliveryStates),
  createTime: unixMsSchema,
  completeTime: unixMsSchema.nullable(),
  nextAttemptTime: unixMsSchema
    .nullable()
    .meta({ description: 'The latest start of the next attempt; null without one.' }),
  attempts: z.array(attemptSchema).meta({ description: `Newest first, at most ${maxStoredAttempts}.` }),
};

export const callbackSchema = z.strictObject({ taskId: z.string(), ...deliveryFields }).meta({ id: 'Callback' });

const operatorAttemptSchema = attemptSchema.extend({
  operator: z.strictObject({
    networkError: z.string().nullable().meta({ description: 'The kind of network error; hidden from clients.' }),
    responseHead: z.string().nullable().meta({ description: 'The first KiB of the response.' }),
  }),
});

export const operatorCallbackSchema = callbackSchema
  .extend({
    taskId: z.string().nullable().meta({ description: 'Null for an event that is about no task.' }),
    event: z.enum(eventTypes).nullable().meta({ description: 'The type of an event; null for a callback.' }),
    attempts: z.array(operatorAttemptSchema).meta({ description: `Newest first, at most ${maxStoredAttempts}.` }),
    operator: z.strictObject({
      accountId: z.string(),
      accountName: z.string().nullable(),
      redeliveries: z.int().meta({ description: 'Requested redeliveries.' }),
    }),
  })
  .meta({ id: 'OperatorCallback' });

/**
 * Presents a callback to its account. Network errors of receivers that are not public are reported alike and without their duration, because
 * a client that could distinguish them could scan our private network. So a failed attempt appears only after the longest time that an
 * attempt may take.
 */
export function presentCallback(delivery: Delivery, attempts: readonly DeliveryAttempt[], now: number) {
  return pickRowFieldsBySchema(callbackSchema, {
    taskId: delivery.deliveryId,
    ...presentOwnDelivery(delivery, attempts, now),
  });
}

export function presentOwnDelivery(delivery: Delivery, attempts: readonly DeliveryAttempt[], now: number) {
  const { finishedAt, dueAt } = delivery;
  const visible = attempts.filter(
    ({ status, startedAt }) => status !== undefined || startedAt + callbackTimeoutMs <= now,
  );
  const state = delivery.state === 'failed' && visible.length < attempts.length ? 'pending' : delivery.state;
  // After a failure, the latest time at which the last attempt can have ended.
  const completedAt = state === 'failed' ? wholeSeconds(dueAt) : finishedAt;
  const isWaiting = state === 'pending' && visible.length === attempts.length && dueAt > now;
  return {
    ...fieldsOf(delivery),
    state,
    completeTime: state === 'pending' ? null : completedAt,
    nextAttemptTime: isWaiting ? wholeSeconds(dueAt) : null,
    attempts: visible.map((attempt) =>
      pickRowFieldsBySchema(attemptSchema, {
        ...attemptFieldsOf(attempt),
        startTime: wholeSeconds(attempt.startedAt),
        durationMs: attempt.status === undefined && !isPublicReceiverError(attempt.error) ? null : attempt.durationMs,
      }),
    ),
  };
}

/** Presents one attempt to its account; undefined while a client must not learn about it. */
export function presentOwnAttemptDetails(delivery: Delivery, attempt: RecordedAttempt, now: number) {
  const [shown] = presentOwnDelivery(delivery, [attempt], now).attempts;
  return shown && { ...shown, ...exchangeParts(delivery, attempt, attempt.exchange?.response?.isPublic === true) };
}

export function presentOperatorAttemptDetails(delivery: Delivery, attempt: RecordedAttempt) {
  return pickRowFieldsBySchema(attemptDetailsSchema, {
    ...attemptFieldsOf(attempt),
    ...exchangeParts(delivery, attempt, true),
  });
}

function exchangeParts({ deliveryId, url }: Delivery, { exchange, responseHead }: RecordedAttempt, isShown: boolean) {
  const { requestHeaders = [], requestBody = '', isBodyCut = false, response } = exchange ?? {};
  const request = { headers: requestHeaders.map(headerOf), body: requestBody, isBodyCut };
  const isHidden = response !== undefined && !isShown;
  return {
    webhookId: webhookId(deliveryId),
    url,
    request: exchange === undefined ? null : request,
    response:
      response === undefined || isHidden
        ? null
        : { headers: response.headers.map(headerOf), body: responseHead?.toString('utf8') ?? '' },
    isResponseHidden: isHidden,
  };
}

function headerOf([name, value]: readonly [name: string, value: string]) {
  return { name, value };
}

/** Presents a callback or an event to operators: with exact times, and the receiver's responses. */
export function presentOperatorCallback(delivery: Delivery, attempts: readonly DeliveryAttempt[]) {
  const { accountId, accountName = null, redeliveries, state, finishedAt, dueAt } = delivery;
  return pickRowFieldsBySchema(operatorCallbackSchema, {
    taskId: delivery.taskId,
    event: delivery.event,
    ...fieldsOf(delivery),
    state,
    completeTime: finishedAt,
    nextAttemptTime: state === 'pending' ? dueAt : null,
    attempts: attempts.map((attempt) => ({
      ...attemptFieldsOf(attempt),
      operator: {
        networkError: recordedErrorKind(attempt.error),
        responseHead: attempt.responseHead?.toString('utf8') ?? null,
      },
    })),
    operator: { accountId, accountName, redeliveries },
  });
}

function fieldsOf({ deliveryId, url, createdAt }: Delivery) {
  return { webhookId: webhookId(deliveryId), url, createTime: createdAt };
}

function attemptFieldsOf({ attempt, startedAt, status, durationMs, error }: DeliveryAttempt) {
  return {
    attempt,
    startTime: startedAt,
    status: status ?? null,
    durationMs,
    error: deliveryErrorOfOutcome(status ?? receiverErrorForAccount(error)),
  };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}
