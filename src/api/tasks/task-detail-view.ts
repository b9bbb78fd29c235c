import { z } from 'zod';
import type { TaskRecord } from '../../tasks/public-record.ts';
import { type Task, type TaskResult, isFinalState } from '../../catalogue/tasks/task.ts';
import type { readRecordsOfTask } from '../../tasks/list/read-ledger-jobs-and-callback-of-task.ts';
import type { NamedCreator } from '../../tasks/list/task-creator.ts';
import { jobOutcomes } from '../../tasks/jobs/job-states.ts';
import { costBases, type ProviderJob } from '../../tasks/jobs/provider-jobs.ts';
import { comparedAspects, differencesOfTask } from '../../media/video/compare-with-order.ts';
import type { UploadPreview } from '../../media/references/upload-preview-links.ts';
import { taskWorkflowId } from '../../temporal/connection/queue-names-and-workflow-ids.ts';
import { orNull, unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../accounts/ledger-entry-view.ts';
import {
  callbackSchema,
  operatorCallbackSchema,
  presentCallback,
  presentOperatorCallback,
} from '../callbacks/callback-view.ts';
import {
  contentDeletedAtSchema,
  type LinkSigner,
  taskCreatorSchema,
  posterUrlOf,
  posterUrlSchema,
  taskRecordSchema,
} from './task-view.ts';

const stepNames = [
  'accepted',
  'waited',
  'generating',
  'stored',
  'succeeded',
  'failed',
  'refunded',
  'partially_refunded',
  'callback',
] as const;

const stepSchema = z.strictObject({
  step: z.enum(stepNames),
  startTime: unixMsSchema,
  endTime: unixMsSchema
    .nullable()
    .meta({ description: 'Null while the step runs; equal to `startTime` for an instant.' }),
});

type Step = z.output<typeof stepSchema>;

function stepOf(step: Step['step'], startTime: number, endTime: number | null | undefined): Step {
  return { step, startTime, endTime: endTime ?? null };
}

/** The steps of a task until its end. They name no provider. */
export function taskStepsOf(task: Task, providerJobs: readonly ProviderJob[]): readonly Step[] {
  const { createdAt, generationStartedAt, completedAt, state } = task;
  const instant = (step: Step['step'], at: number) => stepOf(step, at, at);
  const steps = [instant('accepted', createdAt), stepOf('waited', createdAt, generationStartedAt ?? completedAt)];
  // The successful job ends when the video is available; storing it follows.
  const madeAt = providerJobs.find(({ outcome }) => outcome === 'success')?.endedAt;
  if (generationStartedAt !== undefined) {
    steps.push(stepOf('generating', generationStartedAt, madeAt ?? completedAt));
    if (madeAt !== undefined) steps.push(stepOf('stored', madeAt, completedAt));
  }
  if (completedAt === undefined || !isFinalState(state)) return steps;
  return [...steps, ...endsOf(task).map((step) => instant(step, completedAt))];
}

/** The end of a task and its refund are one statement. */
function endsOf({ state, creditsRefunded }: Task): readonly Step['step'][] {
  if (state === 'fail') return ['failed', 'refunded'];
  return creditsRefunded > 0 ? ['succeeded', 'partially_refunded'] : ['succeeded'];
}

/** The details of a task that its account receives. They name no provider. */
export const taskDetailSchema = z
  .strictObject({
    task: taskRecordSchema,
    createdBy: taskCreatorSchema,
    priceName: z.string().meta({ description: 'The price of the model that was charged.' }),
    posterUrl: posterUrlSchema,
    previews: z.array(z.strictObject({ url: z.string(), previewUrl: z.url() })).meta({
      description:
        'Signed links to the uploaded files in the input, valid for a day. `url` is the address in the input.',
    }),
    mediaDeleteTime: unixMsSchema
      .nullable()
      .meta({ description: 'When the video was or will be deleted; null without one.' }),
    contentDeleteTime: contentDeletedAtSchema,
    steps: z.array(stepSchema).meta({ description: 'In the order in which they began.' }),
    ledger: z.array(ledgerEntrySchema),
    callback: orNull(callbackSchema),
    aheadOfOwn: z.int().nullable().meta({
      description: 'Older waiting tasks of the account, at most 1,000. Null once generation begins.',
    }),
  })
  .meta({ id: 'TaskTimeline' });

const providerJobSchema = z.strictObject({
  ordinal: z.int().positive(),
  provider: z.string(),
  jobId: z.string().nullable().meta({ description: 'Null if the response was lost or is still awaited.' }),
  outcome: z.enum(jobOutcomes).nullable(),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  ageMs: z.int(),
  pool: z.string().nullable().meta({ description: 'The provider with its model; null for a job on our own worker.' }),
  intendTime: unixMsSchema
    .nullable()
    .meta({ description: 'When the create was decided; null while only the slot is reserved.' }),
  submitTime: unixMsSchema.nullable().meta({ description: 'When the upstream accepted it.' }),
  upstreamEndTime: unixMsSchema.nullable(),
  endTime: unixMsSchema.nullable().meta({ description: 'When its outcome was recorded.' }),
  costMicros: z.int().nullable().meta({ description: 'In millionths of the currency; null if unknown.' }),
  costCurrency: z.string().nullable(),
  costBasis: z.enum(costBases).nullable(),
  detail: z.string().nullable().meta({ description: "The upstream's message." }),
});

const filesSchema = z.strictObject({
  videoKey: z.string(),
  posterKey: z.string(),
  lastFrameKey: z.string().nullable(),
  sha256: z.string(),
});

const differenceSchema = z.strictObject({
  aspect: z.enum(comparedAspects),
  kind: z.enum(['short', 'more']),
  ordered: z.string(),
  delivered: z.string(),
});

export const operatorTaskDetailSchema = taskDetailSchema
  .extend({
    callback: orNull(operatorCallbackSchema),
    operator: z.strictObject({
      accountId: z.string(),
      accountName: z.string().nullable(),
      temporalUrl: z
        .url()
        .nullable()
        .meta({ description: "The task's workflow in Temporal's UI; null if its URL is unknown." }),
      files: filesSchema.nullable().meta({ description: 'Keys of the stored files; null without a video.' }),
      providerJobs: z.array(providerJobSchema),
      differences: z.array(differenceSchema).meta({
        description:
          'The differences between the stored video and the order; empty without a video, and after its deletion.',
      }),
    }),
  })
  .meta({ id: 'TaskDetail' });

export type TaskDetailSources = Awaited<ReturnType<typeof readRecordsOfTask>> & {
  readonly task: Task;
  readonly record: TaskRecord;
  readonly creator: NamedCreator | undefined;
  readonly previews: readonly UploadPreview[];
  readonly ahead: number | undefined;
  readonly accountName: string | undefined;
  readonly nowMs: number;
};

export type DetailDeps = {
  readonly resultStore: LinkSigner;
  readonly retentionMs: number;
};

export function presentTaskDetail(deps: DetailDeps, sources: TaskDetailSources) {
  const { delivery, attempts, nowMs } = sources;
  const callback = delivery === undefined ? null : presentCallback(delivery, attempts, nowMs);
  return pickRowFieldsBySchema(taskDetailSchema, { ...fieldsOf(deps, sources, callback), callback });
}

export function presentOperatorTaskDetail(
  deps: DetailDeps & { readonly temporalUiUrl: string | undefined },
  sources: TaskDetailSources,
) {
  const { task, accountName, delivery, attempts, providerJobs } = sources;
  const callback = delivery === undefined ? null : presentOperatorCallback(delivery, attempts);
  return pickRowFieldsBySchema(operatorTaskDetailSchema, {
    ...fieldsOf(deps, sources, callback),
    callback,
    operator: {
      accountId: task.accountId,
      accountName: accountName ?? null,
      temporalUrl: deps.temporalUiUrl === undefined ? null : workflowUrl(deps.temporalUiUrl, task.taskId),
      files: filesOf(task.result),
      providerJobs: providerJobs.map(presentProviderJob),
      differences: differencesOfTask(task),
    },
  });
}

type CallbackTimes = { readonly createTime: number; readonly completeTime: number | null };

function fieldsOf(deps: DetailDeps, sources: TaskDetailSources, callback: CallbackTimes | null) {
  const { task, record, creator, previews, ahead, ledger, providerJobs, nowMs } = sources;
  const { result, completedAt, mediaDeletedAt } = task;
  return {
    task: record,
    createdBy: creator,
    priceName: task.priceName,
    posterUrl: posterUrlOf(deps, task),
    previews,
    mediaDeleteTime: result && (mediaDeletedAt ?? (completedAt ?? nowMs) + deps.retentionMs),
    contentDeleteTime: task.contentDeletedAt,
    steps: [
      ...taskStepsOf(task, providerJobs),
      ...(callback === null ? [] : [stepOf('callback', callback.createTime, callback.completeTime)]),
    ],
    ledger: ledger.map(presentLedgerEntry),
    aheadOfOwn: ahead,
  };
}

function presentProviderJob(job: ProviderJob) {
  return pickRowFieldsBySchema(providerJobSchema, {
    ...job,
    failCode: job.failure?.failCode,
    failMsg: job.failure?.failMsg,
    intendTime: job.intendedAt,
    submitTime: job.submittedAt,
    upstreamEndTime: job.upstreamEndedAt,
    endTime: job.endedAt,
  });
}

function filesOf(result: TaskResult | undefined) {
  return result === undefined
    ? null
    : pickRowFieldsBySchema(filesSchema, { ...result, lastFrameKey: result.lastFrameKey });
}

/** `listUrl` is the list of workflows. */
function workflowUrl(listUrl: string, taskId: string): string {
  const { origin, pathname } = new URL(listUrl);
  return `${origin}${pathname}/${taskWorkflowId(taskId)}`;
}
