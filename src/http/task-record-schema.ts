import { z } from 'zod';
import { failCodes, ratios } from '../domain/task.ts';

const unixMs = z.int().nonnegative();
const credits = z.int().nonnegative();

/** `param` of a record: the request with its defaults filled in. */
const paramSchema = z.strictObject({
  model: z.string(),
  input: z.strictObject({
    prompt: z.string(),
    resolution: z.literal('720p'),
    duration: z.int().meta({ description: 'Whole seconds.' }),
    ratio: z.enum(ratios),
    generateAudio: z.boolean(),
    imageUrls: z.array(z.string()),
  }),
  callBackUrl: z.string().optional(),
});

export const taskStateSchema = z
  .enum(['waiting', 'queuing', 'generating', 'success', 'fail'])
  .meta({ description: '`success` and `fail` are final and never change.' });

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
