import { z } from 'zod';
import { type TaskRecord, taskRecord } from '../../domain/task-record.ts';
import { inputRecordSchema } from '../../domain/task-input.ts';
import { failCodes, isFinal, type Task, taskStates } from '../../domain/task.ts';
import { resultUrls } from '../../media/signed-link.ts';
import { unixMs } from '../fields.ts';
import type { HttpDeps } from '../http-deps.ts';

const credits = z.int().nonnegative();

/** `param` of a record: the request with its defaults filled in. */
const paramSchema = z.strictObject({
  model: z.string(),
  input: inputRecordSchema,
  callBackUrl: z.string().optional(),
});

const taskStateSchema = z.enum(taskStates).meta({ description: '`success` and `fail` are final and never change.' });

/** A task as recordInfo answers it (`TaskRecord`); the tests hold every answer against it. */
export const taskRecordSchema = z
  .strictObject({
    taskId: z.string(),
    model: z.string(),
    state: taskStateSchema,
    progress: z.int().min(0).max(100),
    param: paramSchema,
    resultJson: z.strictObject({
      resultUrls: z.array(z.url()).meta({ description: 'Links signed for this reading; empty until success.' }),
    }),
    failCode: z.enum(failCodes).nullable(),
    failMsg: z.string().nullable(),
    creditsCharged: credits,
    creditsRefunded: credits,
    costTime: z.int().nullable().meta({ description: 'Milliseconds from the start of generation to the end.' }),
    createTime: unixMs.meta({ description: 'Unix milliseconds, as every time here.' }),
    updateTime: unixMs,
    completeTime: unixMs.nullable(),
  })
  .meta({ id: 'TaskRecord' });

/** The record of a task at this moment: a live one with the engine's progress, a finished one with fresh links. */
export async function presentTask(
  deps: Pick<HttpDeps, 'progressOf'> & { readonly resultStore: Parameters<typeof resultUrls>[0] },
  task: Task,
): Promise<TaskRecord> {
  const progress = isFinal(task.state) ? 0 : await deps.progressOf(task);
  return taskRecord(task, progress, resultUrls(deps.resultStore, task));
}
