import type { CallbackToSign } from '../../../tasks/callbacks/post-callback.ts';
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { unixMsSchema } from '../../core/request-fields.ts';
import { requestedNameOrAlias, type ModelsByName } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { inputFieldNames } from '../../../catalogue/input/task-input.ts';
import { inputFields } from '../../../catalogue/input/input-fields.ts';
import type { TaskRecord } from '../../../tasks/public-record.ts';
import { type TaskParam, taskStates } from '../../../catalogue/tasks/task.ts';

export const kieCreatedSchema = z.strictObject({ taskId: z.string(), recordId: z.string() });

export const kieRecordSchema = z.strictObject({
  taskId: z.string(),
  model: z.string(),
  state: z.enum(taskStates),
  /** JSON as text, like `resultJson`. */
  param: z.string(),
  resultJson: z.string(),
  /** `resultJson`, parsed. */
  response: z.strictObject({ resultUrls: z.array(z.string()) }).nullable(),
  successFlag: z.union([z.literal(0), z.literal(1), z.literal(3)]),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  costTime: z.int().nullable(),
  createTime: unixMsSchema,
  updateTime: unixMsSchema,
  completeTime: unixMsSchema.nullable(),
  progress: z.int().min(0).max(100),
  creditsConsumed: z.int().nonnegative(),
});

export type KieCreatedTask = z.output<typeof kieCreatedSchema>;
export type KieRecord = z.output<typeof kieRecordSchema>;

/** Presents a task as kie.ai does, with `costTime` in whole seconds. */
export function presentKieTask(
  { model, param, resultJson, costTime, creditsCharged, creditsRefunded, ...record }: TaskRecord,
  models: ModelsByName,
): KieRecord {
  const response = record.state === 'success' ? { resultUrls: [...resultJson.resultUrls] } : null;
  return {
    ...record,
    model: requestedNameOrAlias(models, model, param.requestedModel),
    param: kieParam(param, models),
    resultJson: response === null ? '' : JSON.stringify(response),
    response,
    successFlag: record.state === 'success' ? 1 : record.state === 'fail' ? 3 : 0,
    costTime: costTime === null ? null : Math.floor(costTime / 1000),
    creditsConsumed: creditsCharged - creditsRefunded,
  };
}

function kieParam({ model, requestedModel, input, callBackUrl }: TaskParam, models: ModelsByName): string {
  return JSON.stringify({
    model: requestedNameOrAlias(models, model, requestedModel),
    ...(callBackUrl !== undefined && { callBackUrl }),
    input: Object.fromEntries(
      inputFieldNames.filter((name) => input[name] !== undefined).map((name) => [inputFields[name].kie, input[name]]),
    ),
  });
}

/** Writes kie.ai's callback, in which a failed task has code 501. */
export function kieCallbackBody(record: TaskRecord, models: ModelsByName): string {
  const data = presentKieTask(record, models);
  if (record.state !== 'fail') return JSON.stringify({ code: 200, msg: 'success', data });
  return JSON.stringify({ code: 501, msg: data.failMsg, data: { ...data, resultJson: null } });
}

/**
 * The signature that kie.ai's clients verify. It covers task and time; our own signature covers the body. Its key is the callback secret as
 * text, with `whsec_`.
 */
export function kieCallbackHeaders({ taskId, timestampSeconds, secrets }: CallbackToSign) {
  // The header holds one signature, so after a rotation the new secret signs.
  const [current] = secrets;
  if (current === undefined) throw new Error('a callback needs a secret');
  const signature = createHmac('sha256', current).update(`${taskId}.${timestampSeconds}`).digest('base64');
  return { 'x-webhook-timestamp': String(timestampSeconds), 'x-webhook-signature': signature };
}
