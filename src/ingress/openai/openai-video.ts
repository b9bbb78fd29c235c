import { z } from 'zod';
import { aliasOf, type ModelCatalogue } from '../../models/model.ts';
import { frameSize } from '../../media/frame-size.ts';
import type { TaskRecord } from '../../tasks/task-record.ts';
import { sizeText } from '../video-size.ts';

const unixSeconds = z.int().nonnegative();

/** OpenAI's video resource, as `openai` 7.57 (npm) and 3.57 (PyPI) declare it. */
export const videoSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('video'),
    model: z.string(),
    status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
    progress: z.int().min(0).max(100),
    created_at: unixSeconds.meta({ description: 'Unix seconds.' }),
    completed_at: unixSeconds.nullable(),
    expires_at: unixSeconds.nullable(),
    prompt: z.string().nullable(),
    seconds: z.string(),
    size: z.string(),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    remixed_from_video_id: z.null(),
  })
  .meta({ id: 'OpenAIVideo' });

export type OpenAIVideo = z.output<typeof videoSchema>;

type VideoTerms = { readonly models: ModelCatalogue; readonly retentionMs: number };

const statusOf = {
  waiting: 'queued',
  queuing: 'queued',
  generating: 'in_progress',
  success: 'completed',
  fail: 'failed',
} as const;

export function presentVideo(record: TaskRecord, { models, retentionMs }: VideoTerms): OpenAIVideo {
  const { input } = record.param;
  const { video } = record.resultJson;
  const completedAt = record.completeTime;
  return {
    id: record.taskId,
    object: 'video',
    model: aliasOf(models, record.model),
    status: statusOf[record.state],
    progress: record.progress,
    created_at: toSeconds(record.createTime),
    completed_at: completedAt === null ? null : toSeconds(completedAt),
    expires_at: record.state === 'success' && completedAt !== null ? toSeconds(completedAt + retentionMs) : null,
    prompt: input.prompt ?? null,
    seconds: String(input.duration),
    size: sizeText(
      video === undefined
        ? frameSize(input.resolution ?? '720p', input.ratio ?? '16:9', undefined)
        : { widthPx: video.width, heightPx: video.height },
    ),
    error: record.failCode === null ? null : { code: record.failCode, message: record.failMsg ?? '' },
    remixed_from_video_id: null,
  };
}

function toSeconds(unixMs: number): number {
  return Math.floor(unixMs / 1000);
}
