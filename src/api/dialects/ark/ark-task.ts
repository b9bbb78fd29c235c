import { z } from 'zod';
import { requestedNameOrAlias, type ModelsByName } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import type { TaskRecord } from '../../../tasks/public-record.ts';

export const arkStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const;

/** The AI SDK ends its polling at `succeeded` and `failed` only, so every failure but the client's own cancellation is `failed`. */
const statusOf = {
  waiting: 'queued',
  queuing: 'queued',
  generating: 'running',
  success: 'succeeded',
  fail: 'failed',
  cancelled: 'cancelled',
} as const;

export function statesOfArkStatus(status: (typeof arkStatuses)[number] | undefined): readonly string[] | undefined {
  const states = Object.entries(statusOf).filter((pair) => pair[1] === status);
  return status === undefined ? undefined : states.map(([state]) => state);
}

/** Ark's task, as `byteplus-python-sdk-v2` 3.0.63 and `@ai-sdk/bytedance` 1.0.29 read it. */
export const arkTaskSchema = z
  .strictObject({
    id: z.string(),
    model: z.string(),
    status: z.enum(arkStatuses).meta({ description: 'Never `expired`: a task that takes too long is `failed`.' }),
    content: z
      .strictObject({ video_url: z.url(), last_frame_url: z.url().nullable() })
      .nullable()
      .meta({ description: 'Freshly signed links; null until success, and once the video is deleted.' }),
    usage: z
      .strictObject({ completion_tokens: z.literal(0), total_tokens: z.literal(0), credits: z.int() })
      .nullable()
      .meta({ description: 'Tasks cost credits, not tokens; null until success.' }),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    created_at: z.int().meta({ description: 'Unix seconds.' }),
    updated_at: z.int(),
    seed: z.int().nullable(),
    resolution: z.string(),
    ratio: z.string(),
    duration: z.int(),
    framespersecond: z.int().nullable().meta({ description: 'Measured from the stored video, rounded.' }),
    generate_audio: z.boolean(),
    safety_identifier: z.string().nullable(),
  })
  .meta({ id: 'ArkTask' });

export function presentArkTask(record: TaskRecord, models: ModelsByName): z.output<typeof arkTaskSchema> {
  const { param, resultJson, state, failCode, failMsg, createTime, updateTime } = record;
  const { seed = null, resolution, ratio, duration, generateAudio } = param.input;
  const { resultUrls, lastFrameUrl = null, video } = resultJson;
  const [videoUrl] = resultUrls;
  const usage = {
    completion_tokens: 0,
    total_tokens: 0,
    credits: record.creditsCharged - record.creditsRefunded,
  } as const;
  return {
    id: record.taskId,
    model: requestedNameOrAlias(models, record.model, param.requestedModel),
    status: statusOf[failCode === 'cancelled' ? failCode : state],
    content: videoUrl === undefined ? null : { video_url: videoUrl, last_frame_url: lastFrameUrl },
    usage: state === 'success' ? usage : null,
    error: failCode === null ? null : { code: failCode, message: failMsg ?? '' },
    created_at: Math.floor(createTime / 1000),
    updated_at: Math.floor(updateTime / 1000),
    seed,
    resolution: resolution === '2160p' ? '4k' : resolution,
    ratio,
    duration,
    framespersecond: video === undefined ? null : Math.round(video.framesPerSecond),
    generate_audio: generateAudio,
    safety_identifier: param.endUser ?? null,
  };
}
