import { z } from 'zod';
import type { TaskRecord } from '../../domain/task-record.ts';
import type { Task } from '../../domain/task.ts';
import type { ProviderJob } from '../../stores/provider-jobs.ts';
import type { readTaskDetail } from '../../stores/task-list.ts';
import { unixMs } from '../fields.ts';
import { ledgerEntrySchema, presentLedgerEntry } from './account.ts';
import { attemptSchema, deliverySchema, presentAttempt, presentDelivery } from './callback.ts';
import { taskRecordSchema } from './task.ts';
import { view } from './view.ts';

const providerJobSchema = z.strictObject({
  ordinal: z.int().positive(),
  provider: z.string(),
  jobId: z
    .string()
    .nullable()
    .meta({ description: 'Null when the answer to the call was lost, or none has come yet.' }),
  outcome: z.enum(['success', 'fail', 'not_created', 'refused', 'abandoned', 'late_success']).nullable(),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  ageMs: z.int(),
});

function presentProviderJob(job: ProviderJob) {
  return view(providerJobSchema, { ...job, failCode: job.failure?.failCode, failMsg: job.failure?.failMsg });
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

export function presentTaskDetail(task: Task, record: TaskRecord, detail: Awaited<ReturnType<typeof readTaskDetail>>) {
  return view(taskDetailSchema, {
    accountId: task.accountId,
    task: record,
    result: task.result,
    mediaDeleteTime: task.mediaDeletedAt,
    ledger: detail.ledger.map(presentLedgerEntry),
    providerJobs: detail.providerJobs.map(presentProviderJob),
    callback: detail.delivery && presentDelivery(detail.delivery),
    attempts: detail.attempts.map(presentAttempt),
  });
}
