import { z } from 'zod';
import { inputFieldNames, inputFields } from '../../domain/task-input.ts';
import type { TaskRecord } from '../../domain/task-record.ts';
import type { TaskParam } from '../../domain/task.ts';
import { taskStateSchema } from '../presenters/task-record.ts';
import { theirModel } from './kie-models.ts';

const unixMs = z.int().nonnegative();
const jsonText = z.string().refine((text) => text === '' || isJson(text));

/** What createTask answers. */
export const kieCreatedSchema = z.strictObject({ taskId: z.string() });

/** A task as recordInfo answers it; the tests hold every answer against it. */
export const kieRecordSchema = z.strictObject({
  taskId: z.string(),
  model: z.string(),
  state: taskStateSchema,
  param: jsonText,
  resultJson: jsonText,
  failCode: z.string(),
  failMsg: z.string(),
  costTime: z.int().nullable(),
  createTime: unixMs,
  updateTime: unixMs,
  completeTime: unixMs.nullable(),
  progress: z.int().min(0).max(100),
  creditsConsumed: z.int().nonnegative(),
});

export type KieCreatedTask = z.output<typeof kieCreatedSchema>;
export type KieRecord = z.output<typeof kieRecordSchema>;

/** A record in the words of the dialect: `param` and `resultJson` are JSON text, times and `costTime` milliseconds. */
export function kieRecord(record: TaskRecord): KieRecord {
  return {
    taskId: record.taskId,
    model: theirModel(record.model),
    state: record.state,
    param: theirParam(record.param),
    resultJson: record.state === 'success' ? JSON.stringify(record.resultJson) : '',
    failCode: record.failCode ?? '',
    failMsg: record.failMsg ?? '',
    costTime: record.costTime,
    createTime: record.createTime,
    updateTime: record.updateTime,
    completeTime: record.completeTime,
    progress: record.progress,
    creditsConsumed: record.creditsCharged - record.creditsRefunded,
  };
}

/** The request in the dialect's spelling, defaults filled in; the extras that were ignored are not in it. */
function theirParam({ model, input, callBackUrl }: TaskParam): string {
  return JSON.stringify({
    model: theirModel(model),
    ...(callBackUrl !== undefined && { callBackUrl }),
    input: Object.fromEntries(inputFieldNames.map((name) => [inputFields[name].kie, input[name]])),
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
