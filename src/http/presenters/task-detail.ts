import { z } from 'zod';
import type { ProviderJob } from '../../stores/provider-jobs.ts';
import { unixMs } from '../fields.ts';
import { ledgerEntrySchema } from './account.ts';
import { attemptSchema, deliverySchema } from './callback.ts';
import { taskRecordSchema } from './task.ts';

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

export function presentProviderJob({ ordinal, provider, jobId, outcome, failure, ageMs }: ProviderJob) {
  const { failCode, failMsg } = failure ?? { failCode: null, failMsg: null };
  return { ordinal, provider, jobId: jobId ?? null, outcome: outcome ?? null, failCode, failMsg, ageMs };
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
