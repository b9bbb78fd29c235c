import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { webhookId } from '../../../tasks/callbacks/deliveries.ts';
import { requestedNameOrAlias, type ModelsByName } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import type { TaskRecord } from '../../../tasks/public-record.ts';
import { replayedField } from '../create-video.ts';
import type { CallbackToSign } from '../../../tasks/callbacks/post-callback.ts';

/** A video, as `@openrouter/sdk` 1.3.19 declares it. Its clients refuse null in place of an absent field. */
export const openRouterVideoSchema = z
  .strictObject({
    id: z.string(),
    polling_url: z.url(),
    status: z.enum(['pending', 'in_progress', 'completed', 'failed', 'cancelled']),
    urls: z.array(z.url()).optional().meta({ description: 'They need no key; none of a deleted video.' }),
    unsigned_urls: z.array(z.url()).optional().meta({ description: 'The same as `urls`.' }),
    usage: z
      .strictObject({ is_byok: z.literal(false), credits: z.int().nonnegative() })
      .optional()
      .meta({ description: 'Without `cost`, which is in US dollars: credits have no exchange rate.' }),
    error: z.string().optional(),
    replayed: replayedField,
  })
  .meta({ id: 'OpenRouterVideo' });

type OpenRouterVideo = z.output<typeof openRouterVideoSchema>;

export function presentOpenRouterVideo(record: TaskRecord, publicUrl: string): OpenRouterVideo {
  const { taskId: id } = record;
  return { id, polling_url: `${publicUrl}/api/v1/videos/${id}`, ...outcomeOf(record) };
}

function outcomeOf(record: TaskRecord): Omit<OpenRouterVideo, 'id' | 'polling_url'> {
  const { state, resultJson, creditsCharged, creditsRefunded, failCode, failMsg } = record;
  const credits = creditsCharged - creditsRefunded;
  if (state === 'generating') return { status: 'in_progress' };
  const urls = [...resultJson.resultUrls];
  if (state === 'success')
    return { status: 'completed', urls, unsigned_urls: urls, usage: { is_byok: false, credits } };
  if (state !== 'fail') return { status: 'pending' };
  return { status: failCode === 'cancelled' ? failCode : 'failed', error: `${failMsg} (${failCode})` };
}

/** The event that OpenRouter posts to a `callback_url`. */
export function openRouterCallbackBody(record: TaskRecord, models: ModelsByName): string {
  const { taskId: id, model, completeTime, updateTime } = record;
  const outcome = outcomeOf(record);
  return JSON.stringify({
    type: `video.generation.${outcome.status}`,
    created_at: new Date(completeTime ?? updateTime).toISOString(),
    data: { id, model: requestedNameOrAlias(models, model, record.param.requestedModel), ...outcome },
  });
}

/** OpenRouter's signature. Its key is the callback secret as text, after a rotation the new one. */
export function openRouterCallbackHeaders({ taskId, timestampSeconds, secrets: [secret = ''], body }: CallbackToSign) {
  const signature = createHmac('sha256', secret).update(`${timestampSeconds},${body}`).digest('hex');
  return {
    'x-openrouter-signature': `t=${timestampSeconds},v1=${signature}`,
    'x-openrouter-idempotency-key': webhookId(taskId),
  };
}
