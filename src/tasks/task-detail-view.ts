import { z } from 'zod';
import type { TaskRecord } from './task-record.ts';
import type { Task } from './task.ts';
import { costBases, jobOutcomes, type ProviderJob } from '../providers/provider-jobs.ts';
import type { readTaskDetail } from './task-list.ts';
import { taskWorkflowId } from '../temporal/task-queues.ts';
import type { Maker } from './task-maker.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { unixMs } from '../http/fields.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../accounts/account-view.ts';
import { attemptSchema, deliverySchema, presentAttempt, presentDelivery } from '../callbacks/callback-view.ts';
import {
  contentDeleteTimeSchema,
  makerSchema,
  posterUrlOf,
  posterUrlSchema,
  presentMaker,
  taskRecordSchema,
} from './task-view.ts';
import { view } from '../http/view.ts';

const providerJobSchema = z.strictObject({
  ordinal: z.int().positive(),
  provider: z.string(),
  jobId: z.string().nullable().meta({ description: 'Null if the response was lost or is still awaited.' }),
  outcome: z.enum(jobOutcomes).nullable(),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  ageMs: z.int(),
  pool: z.string().nullable().meta({ description: 'The provider with its model; null for a job on our own worker.' }),
  intendTime: unixMs
    .nullable()
    .meta({ description: 'When the create was decided; null while only the slot is reserved.' }),
  submitTime: unixMs.nullable().meta({ description: 'When the upstream accepted it.' }),
  upstreamEndTime: unixMs.nullable(),
  endTime: unixMs.nullable().meta({ description: 'When its outcome was recorded.' }),
  costMicros: z.int().nullable().meta({ description: 'In millionths of the currency; null if unknown.' }),
  costCurrency: z.string().nullable(),
  costBasis: z.enum(costBases).nullable(),
  detail: z.string().nullable().meta({ description: "The upstream's message." }),
});

function presentProviderJob(job: ProviderJob) {
  return view(providerJobSchema, {
    ...job,
    failCode: job.failure?.failCode,
    failMsg: job.failure?.failMsg,
    intendTime: job.intendedAt,
    submitTime: job.submittedAt,
    upstreamEndTime: job.upstreamEndedAt,
    endTime: job.endedAt,
  });
}

const resultSchema = z.strictObject({
  videoKey: z.string(),
  posterKey: z.string(),
  lastFrameKey: z.string().optional(),
  widthPx: z.int(),
  heightPx: z.int(),
  durationSeconds: z.number(),
  framesPerSecond: z.number(),
  hasAudio: z.boolean(),
  bytes: z.int(),
  sha256: z.string(),
});

export const taskDetailSchema = z
  .strictObject({
    accountId: z.string(),
    task: taskRecordSchema,
    createdBy: makerSchema,
    priceName: z.string().meta({ description: 'The price of the model that was charged.' }),
    posterUrl: posterUrlSchema,
    temporalUrl: z
      .url()
      .nullable()
      .meta({ description: "The task's workflow in Temporal's UI; null if its URL is unknown." }),
    result: resultSchema.nullable().meta({ description: 'Measured from the stored video.' }),
    mediaDeleteTime: unixMs.nullable(),
    contentDeleteTime: contentDeleteTimeSchema,
    ledger: z.array(ledgerEntrySchema),
    providerJobs: z.array(providerJobSchema),
    callback: deliverySchema.nullable(),
    attempts: z.array(attemptSchema).meta({ description: 'Attempts of the callback, newest first, at most 100.' }),
  })
  .meta({ id: 'TaskDetail' });

type Detailed = {
  readonly task: Task;
  readonly record: TaskRecord;
  readonly detail: Awaited<ReturnType<typeof readTaskDetail>>;
  readonly maker: Maker | undefined;
};

export function presentTaskDetail(
  deps: Pick<HttpDeps, 'resultStore' | 'temporalUiUrl'>,
  { task, record, detail, maker }: Detailed,
) {
  return view(taskDetailSchema, {
    accountId: task.accountId,
    task: record,
    createdBy: presentMaker(maker),
    priceName: task.priceName,
    posterUrl: posterUrlOf(deps, task),
    temporalUrl: deps.temporalUiUrl && workflowUrl(deps.temporalUiUrl, task.taskId),
    result: task.result,
    mediaDeleteTime: task.mediaDeletedAt,
    contentDeleteTime: task.contentDeletedAt,
    ledger: detail.ledger.map(presentLedgerEntry),
    providerJobs: detail.providerJobs.map(presentProviderJob),
    callback: detail.delivery && presentDelivery(detail.delivery),
    attempts: detail.attempts.map(presentAttempt),
  });
}

/** `listUrl` is the list of workflows. */
function workflowUrl(listUrl: string, taskId: string): string {
  const { origin, pathname } = new URL(listUrl);
  return `${origin}${pathname}/${taskWorkflowId(taskId)}`;
}
