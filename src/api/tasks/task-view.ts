import { z } from 'zod';
import { type TaskRecord, taskRecord } from '../../tasks/public-record.ts';
import { recordedInputSchema } from '../../catalogue/input/task-input.ts';
import { failCodes, isFinalState, type Task, taskStates } from '../../catalogue/tasks/task.ts';
import { signVideoAndLastFrameLinks } from '../../media/store/signed-link.ts';
import type { ListedTask } from '../../tasks/list/task-list.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const credits = z.int().nonnegative();

/** The request with its defaults filled in. */
const paramSchema = z.strictObject({
  model: z.string(),
  input: recordedInputSchema,
  callBackUrl: z.string().optional(),
  requestedModel: z.string().optional().meta({
    description: 'The name by which a client of another API or dialect named the model.',
  }),
  endUser: z.string().optional().meta({ description: 'Only of tasks created through an API with such a field.' }),
});

const videoSchema = z.strictObject({
  width: z.int(),
  height: z.int(),
  seconds: z.number(),
  framesPerSecond: z.number(),
  hasAudio: z.boolean(),
  bytes: z.int(),
});

const taskStateSchema = z.enum(taskStates).meta({ description: '`success` and `fail` are final and never change.' });

export const taskRecordSchema = z
  .strictObject({
    taskId: z.string(),
    model: z.string(),
    state: taskStateSchema,
    progress: z.int().min(0).max(100),
    param: paramSchema,
    resultJson: z.strictObject({
      resultUrls: z.array(z.url()).meta({ description: 'Freshly signed links; empty until success.' }),
      lastFrameUrl: z
        .url()
        .optional()
        .meta({ description: 'A freshly signed link to the last frame (JPEG), for models that store it.' }),
      video: videoSchema.optional().meta({ description: 'Measured from the stored video; absent until success.' }),
    }),
    failCode: z.enum(failCodes).nullable(),
    failMsg: z.string().nullable(),
    creditsCharged: credits,
    creditsRefunded: credits.meta({
      description:
        'All credits of a failed task. Of a success, the difference of the price if its model refunds what a video lacks.',
    }),
    costTime: z.int().nullable().meta({ description: 'Milliseconds from the start of generation to the end.' }),
    createTime: unixMsSchema.meta({ description: 'Unix milliseconds, as every time here.' }),
    updateTime: unixMsSchema,
    completeTime: unixMsSchema.nullable(),
  })
  .meta({ id: 'TaskRecord' });

/** Signs links to media. */
export type LinkSigner = { readonly link: (key: string) => string };

export type TaskRecordDeps = {
  /** Progress of a live task, 0 to 100; bounded in time, never rejects. */
  readonly progressOf: (task: Task) => Promise<number>;
  readonly resultStore: LinkSigner;
};

export async function presentTask(deps: TaskRecordDeps, task: Task): Promise<TaskRecord> {
  const progress = isFinalState(task.state) ? 0 : await deps.progressOf(task);
  return taskRecord(task, progress, signVideoAndLastFrameLinks(deps.resultStore, task));
}

// Fields of lists and details that the record, which is also the body of callbacks, does not have.

export const taskCreatorSchema = z
  .strictObject({
    kind: z.enum(['key', 'person']),
    id: z.string(),
    name: z.string().nullable().meta({
      description: 'The name of the key, or the e-mail of the person (`erased user` after erasure).',
    }),
  })
  .nullable()
  .meta({ description: 'The creator; null for a task that an operator started manually.' });

export const posterUrlSchema = z
  .url()
  .nullable()
  .meta({ description: 'A signed link to a still of the video; null without one.' });

export const contentDeletedAtSchema = unixMsSchema.nullable().meta({
  description: 'When prompt, images and video were deleted, on request or after their retention.',
});

export const listedTaskSchema = taskRecordSchema
  .extend({ createdBy: taskCreatorSchema, posterUrl: posterUrlSchema, contentDeleteTime: contentDeletedAtSchema })
  .meta({ id: 'ListedTask' });

export const operatorListedTaskSchema = listedTaskSchema
  .extend({ operator: z.strictObject({ accountId: z.string(), accountName: z.string().nullable() }) })
  .meta({ id: 'OperatorListedTask' });

export async function presentListedTask(deps: TaskRecordDeps, task: ListedTask) {
  const record = await presentTask(deps, task);
  return pickRowFieldsBySchema(listedTaskSchema, {
    ...record,
    createdBy: task.createdBy,
    posterUrl: posterUrlOf(deps, task),
    contentDeleteTime: task.contentDeletedAt,
  });
}

export async function presentOperatorListedTask(deps: TaskRecordDeps, task: ListedTask) {
  const listed = await presentListedTask(deps, task);
  return pickRowFieldsBySchema(operatorListedTaskSchema, {
    ...listed,
    operator: { accountId: task.accountId, accountName: task.accountName ?? null },
  });
}

export function posterUrlOf({ resultStore }: { readonly resultStore: LinkSigner }, task: Task): string | null {
  if (task.result === undefined || task.mediaDeletedAt !== undefined) return null;
  return resultStore.link(task.result.posterKey);
}
