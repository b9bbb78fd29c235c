import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { aliasOf, type ModelCatalogue } from '../domain/models.ts';
import { inputFieldNames, inputFields } from '../domain/task-input.ts';
import type { TaskRecord } from '../domain/task-record.ts';
import { type TaskParam, taskStates } from '../domain/task.ts';

const unixMs = z.int().nonnegative();

export const kieCreatedSchema = z.strictObject({ taskId: z.string(), recordId: z.string() });

/** A task as recordInfo answers it; the tests hold every answer against it. */
export const kieRecordSchema = z.strictObject({
  taskId: z.string(),
  model: z.string(),
  state: z.enum(taskStates),
  /** This and `resultJson` are JSON as text. */
  param: z.string(),
  resultJson: z.string(),
  /** `resultJson`, already parsed. */
  response: z.strictObject({ resultUrls: z.array(z.string()) }).nullable(),
  successFlag: z.union([z.literal(0), z.literal(1), z.literal(3)]),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  costTime: z.int().nullable(),
  createTime: unixMs,
  updateTime: unixMs,
  completeTime: unixMs.nullable(),
  progress: z.int().min(0).max(100),
  creditsConsumed: z.int().nonnegative(),
});

export type KieCreatedTask = z.output<typeof kieCreatedSchema>;
export type KieRecord = z.output<typeof kieRecordSchema>;

/** A record in the words of the dialect: `param` and `resultJson` are JSON text, `costTime` is in whole seconds. */
export function presentKieTask(
  { model, param, resultJson, costTime, creditsCharged, creditsRefunded, ...record }: TaskRecord,
  models: ModelCatalogue,
): KieRecord {
  const response = record.state === 'success' ? { resultUrls: [...resultJson.resultUrls] } : null;
  return {
    ...record,
    model: aliasOf(models, model),
    param: theirParam(param, models),
    resultJson: response === null ? '' : JSON.stringify(response),
    response,
    successFlag: record.state === 'success' ? 1 : record.state === 'fail' ? 3 : 0,
    costTime: costTime === null ? null : Math.floor(costTime / 1000),
    creditsConsumed: creditsCharged - creditsRefunded,
  };
}

/** The request in the dialect's spelling, defaults filled in; the extras that were ignored are not in it. */
function theirParam({ model, input, callBackUrl }: TaskParam, models: ModelCatalogue): string {
  return JSON.stringify({
    model: aliasOf(models, model),
    ...(callBackUrl !== undefined && { callBackUrl }),
    input: Object.fromEntries(inputFieldNames.map((name) => [inputFields[name].kie, input[name]])),
  });
}

/** What a callback in a dialect may be signed by, beside our own signature. Secrets: the current one first. */
export type SignedCallback = {
  readonly taskId: string;
  readonly timestampSeconds: number;
  readonly secrets: readonly string[];
};

/** The text of a callback: the record under code 200, or under 501 when the task has failed. */
export function kieCallbackBody(record: TaskRecord, models: ModelCatalogue): string {
  const data = presentKieTask(record, models);
  if (record.state !== 'fail') return JSON.stringify({ code: 200, msg: 'success', data });
  return JSON.stringify({ code: 501, msg: data.failMsg, data: { ...data, resultJson: null } });
}

/**
 * The signature that the dialect's clients verify. It covers task and time only; ours beside it covers the body. Those clients hash
 * with the text in their settings, so the key is the callback secret as it is shown, `whsec_` included.
 */
export function kieCallbackHeaders({ taskId, timestampSeconds, secrets }: SignedCallback) {
  // There is room for one signature, so after a rotation it is made with the new secret.
  const [current] = secrets;
  if (current === undefined) throw new Error('a callback needs a secret');
  const signature = createHmac('sha256', current).update(`${taskId}.${timestampSeconds}`).digest('base64');
  return { 'x-webhook-timestamp': String(timestampSeconds), 'x-webhook-signature': signature };
}
