import { z } from 'zod';
import type { TaskRecord } from './task-record.ts';
import { isFinal, type Task } from './task.ts';
import type { LedgerEntry } from '../credits/credits.ts';
import type { Delivery, DeliveryAttempt } from '../callbacks/deliveries.ts';
import type { ProviderJob } from '../providers/provider-jobs.ts';
import type { UploadPreview } from '../media/upload-previews.ts';
import type { Maker } from './task-maker.ts';
import { unixMs } from '../http/fields.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { ledgerEntrySchema, presentLedgerEntry } from '../accounts/account-view.ts';
import { ownCallbackSchema, presentOwnCallback } from '../callbacks/callback-view.ts';
import { makerSchema, posterUrlOf, posterUrlSchema, presentMaker, taskRecordSchema } from './task-view.ts';
import { view } from '../http/view.ts';

const stepNames = [
  'accepted',
  'waited',
  'generating',
  'stored',
  'succeeded',
  'failed',
  'refunded',
  'callback',
] as const;

const stepSchema = z.strictObject({
  step: z.enum(stepNames),
  startTime: unixMs,
  endTime: unixMs.nullable().meta({ description: 'Null while the step runs; equal to `startTime` for an instant.' }),
});

const videoSchema = z.strictObject({
  widthPx: z.int(),
  heightPx: z.int(),
  durationSeconds: z.number(),
  framesPerSecond: z.number(),
  hasAudio: z.boolean(),
  bytes: z.int(),
});

/** For the account, so it names no provider. */
export const timelineSchema = z
  .strictObject({
    task: taskRecordSchema,
    createdBy: makerSchema,
    posterUrl: posterUrlSchema,
    previews: z.array(z.strictObject({ url: z.string(), previewUrl: z.url() })).meta({
      description:
        'Signed links to the uploaded files in the input, valid for a day. `url` is the address in the input.',
    }),
    video: videoSchema.nullable().meta({ description: 'Measured from the video.' }),
    mediaDeleteTime: unixMs
      .nullable()
      .meta({ description: 'When the video was or will be deleted; null without one.' }),
    steps: z.array(stepSchema).meta({ description: 'In the order in which they began.' }),
    ledger: z.array(ledgerEntrySchema),
    // `nullable` would make every Callback of the document nullable.
    callback: z.union([ownCallbackSchema, z.null()]),
    aheadOfOwn: z.int().nullable().meta({
      description: 'Older waiting tasks of the account, at most 1,000. Null once generation begins.',
    }),
  })
  .meta({ id: 'TaskTimeline' });

type Life = {
  readonly task: Task;
  readonly record: TaskRecord;
  readonly maker: Maker | undefined;
  readonly previews: readonly UploadPreview[];
  readonly ahead: number | undefined;
  readonly ledger: readonly LedgerEntry[];
  readonly providerJobs: readonly ProviderJob[];
  readonly delivery: Delivery | undefined;
  readonly attempts: readonly DeliveryAttempt[];
  readonly nowMs: number;
};

export function presentTimeline(deps: Pick<HttpDeps, 'resultStore' | 'retentionMs'>, life: Life) {
  const { task, record, maker, previews, ahead, ledger, delivery, attempts, nowMs } = life;
  const { result, completedAt, mediaDeletedAt } = task;
  const callback = delivery === undefined ? null : presentOwnCallback(delivery, attempts, nowMs);
  return view(timelineSchema, {
    task: record,
    createdBy: presentMaker(maker),
    posterUrl: posterUrlOf(deps, task),
    previews,
    video: result === undefined ? null : view(videoSchema, result),
    mediaDeleteTime: result && (mediaDeletedAt ?? (completedAt ?? nowMs) + deps.retentionMs),
    steps: [
      ...stepsOf(life),
      ...(callback === null ? [] : [stepOf('callback', callback.createTime, callback.completeTime)]),
    ],
    ledger: ledger.map(presentLedgerEntry),
    callback,
    aheadOfOwn: ahead,
  });
}

type Step = { readonly step: (typeof stepNames)[number]; readonly startTime: number; readonly endTime: number | null };

function stepOf(step: Step['step'], startTime: number, endTime: number | null | undefined): Step {
  return { step, startTime, endTime: endTime ?? null };
}

function stepsOf({ task, providerJobs }: Life): readonly Step[] {
  const { createdAt, generationStartedAt, completedAt, state } = task;
  const instant = (step: Step['step'], at: number) => stepOf(step, at, at);
  const steps = [instant('accepted', createdAt), stepOf('waited', createdAt, generationStartedAt ?? completedAt)];
  // The successful job ends when the video is available; storing it follows.
  const madeAt = providerJobs.find(({ outcome }) => outcome === 'success')?.endedAt;
  if (generationStartedAt !== undefined) {
    steps.push(stepOf('generating', generationStartedAt, madeAt ?? completedAt));
    if (madeAt !== undefined) steps.push(stepOf('stored', madeAt, completedAt));
  }
  if (completedAt === undefined || !isFinal(state)) return steps;
  // Failure and refund are one statement.
  const ends = state === 'success' ? ['succeeded' as const] : ['failed' as const, 'refunded' as const];
  return [...steps, ...ends.map((step) => instant(step, completedAt))];
}
