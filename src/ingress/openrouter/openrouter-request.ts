import { z } from 'zod';
import { oneOf } from '../../http/fields.ts';
import { type ModelCatalogue, modelOfAlias } from '../../models/model.ts';
import type { Resolution } from '../../tasks/input-bounds.ts';
import type { VideoRequest } from '../create-video.ts';
import { readSize } from '../video-size.ts';

export const frameTypes = ['first_frame', 'last_frame'] as const;
export const frameFields = { first_frame: 'firstFrameUrl', last_frame: 'lastFrameUrl' } as const;
const text = z.string({ error: 'must be a string' }).nullish();
const list = <Item extends z.ZodType>(item: Item) => z.array(item, { error: 'must be a list' }).max(50);
const link = z.strictObject({ url: z.string({ error: 'must be an http or https URL, or a data URL' }) });
const frameImage = z.strictObject({ type: oneOf(['image_url']), image_url: link, frame_type: oneOf(frameTypes) });
const reference = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('image_url'), image_url: link }),
    z.strictObject({ type: z.literal('video_url'), video_url: link }),
    z.strictObject({ type: z.literal('audio_url'), audio_url: link }),
  ],
  { error: 'must be one of image_url, video_url, audio_url' },
);
const notOffered = (what: string) => z.null({ error: `${what} is not supported; leave this field out` }).optional();
const withoutEffect = z.unknown().optional().meta({ description: 'Ignored: it has no effect on the video.' });

/** The request of `@openrouter/sdk` 1.3.19. The parser of our own requests checks the values for the model. */
export const createBody = z
  .strictObject({
    model: text,
    prompt: text,
    duration: z.number({ error: 'must be a number of seconds' }).nullish(),
    resolution: text,
    aspect_ratio: text,
    size: text.meta({ description: 'Instead of `resolution` and `aspect_ratio`.' }),
    frame_images: list(frameImage)
      .refine((frames) => new Set(frames.map((one) => one.frame_type)).size === frames.length, {
        error: 'must hold at most one first_frame and one last_frame',
      })
      .nullish(),
    input_references: list(reference).nullish(),
    generate_audio: z.boolean({ error: 'must be true or false' }).nullish(),
    seed: z.number({ error: 'must be a whole number' }).nullish(),
    callback_url: text.meta({ description: 'Receives an event `video.generation.*` at the end.' }),
    provider: z
      .strictObject({ options: z.strictObject({ videogen: z.record(z.string(), z.unknown()).nullish() }).nullish() })
      .nullish()
      .meta({ description: '`options.videogen` has the `allowed_passthrough_parameters` of the model.' }),
    previous_job_id: notOffered('continuing a video'),
    creativity: notOffered('upscaling'),
    upscale_factor: notOffered('upscaling'),
    user: withoutEffect,
    session_id: withoutEffect,
    trace: withoutEffect,
  })
  .meta({ id: 'OpenRouterVideoRequest' });

/** OpenRouter's names of our fields. */
export const theirNames = {
  callBackUrl: 'callback_url',
  'input.ratio': 'aspect_ratio',
  'input.generateAudio': 'generate_audio',
  'input.firstFrameUrl': 'frame_images.first_frame',
  'input.lastFrameUrl': 'frame_images.last_frame',
  'input.imageUrls': 'input_references.image_url',
  'input.videoUrls': 'input_references.video_url',
  'input.audioUrls': 'input_references.audio_url',
  'input.negativePrompt': 'provider.options.videogen.negative_prompt',
  'input.options': 'provider.options.videogen',
};

/** The names of resolutions that differ from ours. */
export const theirResolutions: Readonly<Partial<Record<Resolution, string>>> = { '1440p': '2K', '2160p': '4K' };

export function readOpenRouterRequest(body: z.output<typeof createBody>, models: ModelCatalogue): VideoRequest {
  const model = models.get(modelOfAlias(models, body.model ?? ''));
  const { negative_prompt: negativePrompt, ...options } = body.provider?.options?.videogen ?? {};
  const named = body.resolution?.toUpperCase();
  const [resolution = named?.toLowerCase()] = Object.entries(theirResolutions).find(([, one]) => one === named) ?? [];
  const frame = readSize(model?.input, body.size, { resolution, ratio: body.aspect_ratio });
  const frames = (body.frame_images ?? []).map((one) => [frameFields[one.frame_type], one.image_url.url] as const);
  const references = body.input_references ?? [];
  return {
    model: body.model,
    input: {
      prompt: body.prompt,
      duration: body.duration,
      ...frame.fields,
      generateAudio: body.generate_audio,
      seed: body.seed,
      negativePrompt,
      ...(Object.keys(options).length > 0 && { options }),
      ...Object.fromEntries(frames),
      imageUrls: references.flatMap((one) => ('image_url' in one ? one.image_url.url : [])),
      videoUrls: references.flatMap((one) => ('video_url' in one ? one.video_url.url : [])),
      audioUrls: references.flatMap((one) => ('audio_url' in one ? one.audio_url.url : [])),
    },
    callBackUrl: body.callback_url,
    errors: frame.errors,
  };
}
