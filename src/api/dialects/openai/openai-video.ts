import { z } from 'zod';
import type { WithCatalogueGetter } from '../../../catalogue/file/catalogue-schema-and-types.ts';
import { requestedNameOrAlias } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import type { TaskRecord } from '../../../tasks/public-record.ts';
import { replayedField } from '../create-video.ts';
import { sizeOfVideo, sizeText } from '../video-size.ts';

const unixSeconds = z.int().nonnegative();

/** OpenAI's video resource, as `openai` 7.57 (npm) and 3.57 (PyPI) declare it. */
export const openAIVideoSchema = z
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
    replayed: replayedField,
  })
  .meta({ id: 'OpenAIVideo' });

export type OpenAIVideo = z.output<typeof openAIVideoSchema>;

const statusOf = {
  waiting: 'queued',
  queuing: 'queued',
  generating: 'in_progress',
  success: 'completed',
  fail: 'failed',
} as const;

export type OpenAIVideoDeps = WithCatalogueGetter & { readonly retentionMs: number };

export function presentOpenAIVideo(deps: OpenAIVideoDeps, record: TaskRecord): OpenAIVideo {
  const { completeTime: completedAt } = record;
  const expiresAt = record.state === 'success' && completedAt !== null ? completedAt + deps.retentionMs : null;
  return {
    id: record.taskId,
    object: 'video',
    model: requestedNameOrAlias(deps.catalogue().models, record.model, record.param.requestedModel),
    status: statusOf[record.state],
    progress: record.progress,
    created_at: Math.floor(record.createTime / 1000),
    completed_at: toSeconds(completedAt),
    expires_at: toSeconds(expiresAt),
    prompt: record.param.input.prompt,
    seconds: String(record.param.input.duration),
    size: sizeText(sizeOfVideo(record)),
    error: record.failCode === null ? null : { code: record.failCode, message: record.failMsg ?? '' },
    remixed_from_video_id: null,
  };
}

function toSeconds(unixMs: number | null): number | null {
  return unixMs === null ? null : Math.floor(unixMs / 1000);
}
