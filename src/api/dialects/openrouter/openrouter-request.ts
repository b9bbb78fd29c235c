import { z } from 'zod';
import { type ModelsByName, modelNameFromAlias } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import type { Resolution } from '../../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import type { FieldName } from '../../../catalogue/input/task-input.ts';
import type { VideoRequest } from '../create-video.ts';
import { duplicateSpellingErrors, scalarFromText, translateGivenFields } from '../translate-fields.ts';
import {
  frameTypes,
  type FieldFromMediaList,
  clientPathsOf,
  readFrames,
  readReferences,
} from '../read-frames-and-references.ts';
import { readSize } from '../video-size.ts';

const text = z.string({ error: 'must be a string' }).nullish();
/** Clients also send addresses alone. `read-frames-and-references.ts` reads the items, and explains what it cannot read. */
const list = z.array(z.unknown(), { error: 'must be an array' }).max(50, { error: 'must have at most 50 items' });
const notOffered = (what: string) => z.null({ error: `${what} is not supported; leave this field out` }).optional();
const withoutEffect = z.unknown().optional().meta({ description: 'Ignored: it has no effect on the video.' });
const unused = ['user', 'session_id', 'trace'] as const;

/** The request of `@openrouter/sdk` 1.3.19. The parser of our own requests checks the values for the model. */
export const openRouterCreateBody = z
  .strictObject({
    model: text,
    prompt: text,
    duration: z.unknown().optional().meta({ type: 'number', description: 'Seconds.' }),
    resolution: text,
    aspect_ratio: text,
    size: text.meta({ description: 'Instead of `resolution` and `aspect_ratio`.' }),
    frame_images: list.nullish().meta({
      description: `Frames, each with a \`frame_type\` (${frameTypes.join(', ')}) and an \`image_url\`. One URL alone is the first frame.`,
    }),
    input_references: list.nullish().meta({
      description: 'References, each with an `image_url`, `video_url` or `audio_url`. A URL alone is an image.',
    }),
    generate_audio: z.unknown().optional().meta({ type: 'boolean' }),
    seed: z.unknown().optional().meta({ type: 'integer' }),
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

type CreateBody = z.output<typeof openRouterCreateBody>;
type TheirName = keyof CreateBody | `provider.options.videogen${'' | '.negative_prompt'}`;

/**
 * OpenRouter's name of each of our fields; undefined for one that its API lacks, or that has no name in errors. A new field of the
 * vocabulary does not compile until it is decided here, and read in `readOpenRouterRequest`.
 */
const theirNames: Readonly<Record<FieldName, TheirName | undefined>> = {
  prompt: 'prompt',
  negativePrompt: 'provider.options.videogen.negative_prompt',
  resolution: 'resolution',
  duration: 'duration',
  ratio: 'aspect_ratio',
  generateAudio: 'generate_audio',
  imageUrls: 'input_references',
  // A missing frame is named by its `frame_type`.
  firstFrameUrl: undefined,
  lastFrameUrl: undefined,
  videoUrls: 'input_references',
  audioUrls: 'input_references',
  seed: 'seed',
  options: 'provider.options.videogen',
};
const namesInErrors = Object.fromEntries(
  Object.entries(theirNames).flatMap(([ours, theirs]): [string, string][] =>
    theirs === undefined ? [] : [[`input.${ours}`, theirs]],
  ),
);

/** The names of resolutions that differ from ours. */
export const openRouterResolutionNames: Readonly<Partial<Record<Resolution, string>>> = {
  '1440p': '2K',
  '2160p': '4K',
};

/** Translates a create request. `names` are the client's names of our fields, for errors. */
export function readOpenRouterRequest(body: CreateBody, models: ModelsByName) {
  const model = models.get(modelNameFromAlias(models, body.model ?? ''));
  const { negative_prompt: negativePrompt, ...options } = body.provider?.options?.videogen ?? {};
  const named = body.resolution?.toUpperCase();
  const [resolution = named?.toLowerCase()] =
    Object.entries(openRouterResolutionNames).find(([, one]) => one === named) ?? [];
  const frame = readSize(model?.input, body.size, { resolution, ratio: body.aspect_ratio });
  const media = [
    readFrames('frame_images', body.frame_images),
    readReferences('input_references', body.input_references),
  ];
  const listed = media.flatMap((one) => one.fields);
  const fields: Readonly<Record<Exclude<FieldName, FieldFromMediaList>, unknown>> = {
    prompt: body.prompt,
    duration: scalarFromText(body.duration),
    resolution: frame.fields.resolution,
    ratio: frame.fields.ratio,
    generateAudio: scalarFromText(body.generate_audio),
    seed: scalarFromText(body.seed),
    negativePrompt,
    options: Object.keys(options).length > 0 ? options : undefined,
  };
  const request: VideoRequest = {
    model: body.model,
    input: { ...fields, ...translateGivenFields(listed, model?.input) },
    callBackUrl: body.callback_url,
    errors: [...frame.errors, ...media.flatMap((one) => one.errors), ...duplicateSpellingErrors(listed)],
    unused: unused.filter((name) => body[name] !== undefined && body[name] !== null),
  };
  return { request, names: { callBackUrl: 'callback_url', ...namesInErrors, ...clientPathsOf(listed) } };
}
