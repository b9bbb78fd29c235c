import { z } from 'zod';
import type { ProviderJob } from '../stores/provider-jobs.ts';
import type { Delivery, DeliveryAttempt } from '../stores/deliveries.ts';
import { ledgerEntrySchema } from './ledger-entry-schema.ts';
import { taskRecordSchema } from './task-record-schema.ts';

const unixMs = z.int().nonnegative();

/** A callback as operators see it. */
export const deliverySchema = z
  .strictObject({
    taskId: z.string(),
    accountId: z.string(),
    url: z.string(),
    state: z.enum(['pending', 'delivered', 'failed', 'gone']),
    round: z.int().positive().meta({ description: '1 at first, one more with each redelivery.' }),
    createTime: unixMs,
    completeTime: unixMs.nullable(),
    nextAttemptTime: unixMs.nullable(),
  })
  .meta({ id: 'Delivery' });

export function shownDelivery(delivery: Delivery): z.output<typeof deliverySchema> {
  const { taskId, accountId, url, state, round, createdAt, finishedAt, dueAt } = delivery;
  const nextAttemptTime = state === 'pending' ? dueAt : null;
  return {
    taskId,
    accountId,
    url,
    state,
    round,
    createTime: createdAt,
    completeTime: finishedAt ?? null,
    nextAttemptTime,
  };
}

const attemptSchema = z.strictObject({
  attempt: z.int().positive(),
  startTime: unixMs,
  durationMs: z.int().nonnegative(),
  status: z.int().nullable(),
  error: z.string().nullable().meta({ description: 'The kind of network error; clients are not told.' }),
  responseHead: z.string().nullable().meta({ description: 'The first KiB of what the receiver answered.' }),
});

export function shownAttempt(attempt: DeliveryAttempt): z.output<typeof attemptSchema> {
  return {
    attempt: attempt.attempt,
    startTime: attempt.startedAt,
    durationMs: attempt.durationMs,
    status: attempt.status ?? null,
    error: attempt.error ?? null,
    responseHead: attempt.responseHead?.toString('utf8') ?? null,
  };
}

const providerJobSchema = z.strictObject({
  ordinal: z.int().positive(),
  provider: z.string(),
  jobId: z
    .string()
    .nullable()
    .meta({ description: 'Null when the answer to the call was lost, or none has come yet.' }),
  outcome: z.enum(['success', 'fail', 'not_created', 'abandoned', 'late_success']).nullable(),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  ageMs: z.int(),
});

export function shownProviderJob(job: ProviderJob): z.output<typeof providerJobSchema> {
  return {
    ordinal: job.ordinal,
    provider: job.provider,
    jobId: job.jobId ?? null,
    outcome: job.outcome ?? null,
    failCode: job.failure?.failCode ?? null,
    failMsg: job.failure?.failMsg ?? null,
    ageMs: job.ageMs,
  };
}

const resultSchema = z.strictObject({
  videoKey: z.string(),
  posterKey: z.string(),
  widthPx: z.int(),
  heightPx: z.int(),
  durationSeconds: z.number(),
  framesPerSecond: z.number(),
  hasAudio: z.boolean(),
  bytes: z.int(),
  sha256: z.string(),
});

/** Everything that is known of a task. */
export const taskDetailSchema = z
  .strictObject({
    accountId: z.string(),
    task: taskRecordSchema,
    result: resultSchema.nullable().meta({ description: 'What was measured of the stored video.' }),
    mediaDeleteTime: unixMs.nullable(),
    ledger: z.array(ledgerEntrySchema),
    providerJobs: z.array(providerJobSchema),
    callback: deliverySchema.nullable(),
    attempts: z.array(attemptSchema).meta({ description: 'Of the callback, newest first, at most 100.' }),
  })
  .meta({ id: 'TaskDetail' });
