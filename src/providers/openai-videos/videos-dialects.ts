import { z } from 'zod';
import { type FrameSize, frameSizeForUpstream } from '../../catalogue/media/frame-size.ts';
import type { videoDialects } from '../../catalogue/file/provider-schema.ts';
import type { OptionValue } from '../../catalogue/input/extra-model-options.ts';
import type { PreparedReferenceImage, PreparedMediaByRole } from '../../catalogue/media/media-by-role.ts';
import type { Resolution } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';
import type { FrozenConfig, JobRequest, RequestBody } from '../provider-contract.ts';
import {
  urlContentParts,
  shrinkImagesToFit,
  adaptiveRatioImage,
  imageDataUrlsByRole,
} from '../requests/media-by-role-and-data-urls.ts';
import { isVllmField, optionsAsUpstreamFields } from '../../catalogue/providers/options-as-upstream-fields.ts';
import { isMinimaxH3 } from '../../catalogue/providers/is-minimax-h3.ts';
import { formBody, type FormFile, jpegFile, jsonBody } from '../requests/request-bodies.ts';
import { seedOf, sizeParameterSchemas } from '../requests/placeholder-values-and-template-media.ts';

// `POST /videos` began as OpenAI's. The servers and resellers that speak it differ in how a create is spelled, in what a DELETE
// does, and in where the video is.

/** The entry's `parameters` in the catalogue. */
const parametersSchema = z.object({
  ...sizeParameterSchemas,
  fps: z.int().optional(),
  steps: z.int().optional(),
  extra: z.record(z.string(), z.json()).default({}),
  /** Fixed fields of every form, beside those that the kind sends. */
  form: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

type Parameters = z.output<typeof parametersSchema>;

type Create = Pick<JobRequest, 'input' | 'mediaLinks'> & {
  readonly model: string;
  readonly size: FrameSize;
  readonly seed: number;
  readonly media: PreparedMediaByRole;
  readonly parameters: Parameters;
};

export type VideosDialect = {
  readonly body: (create: Create) => Promise<RequestBody>;
  /** True if the server has its jobs in memory only. */
  readonly forgetsJobs: boolean;
  /** True if the list of jobs shows their prompts, by which a lost job can be found. */
  readonly listsPrompts: boolean;
  /** Set for servers that fetch reference videos and audio; the others take none. */
  readonly clips?: 'link';
  /**
   * `stops`: a DELETE that succeeds stops a running job. `reports`: only the answer shows whether it did. `no`: the server has no DELETE
   * that stops a job.
   */
  readonly deletes: 'stops' | 'reports' | 'no';
  /** Returns the address of the video from the record of a job that succeeded. */
  readonly videoUrl: (record: { readonly id: string; readonly url?: string | undefined }) => string;
};

export type DialectName = (typeof videoDialects)[number];

/** Bytes of all images of a request. The servers name no limit; some proxies before them take 64 MB. */
const maxImageBytes = 40_000_000;

const contentPath = ({ id }: { readonly id: string }) => `/videos/${id}/content`;

export const dialects: Record<DialectName, VideosDialect> = {
  // vLLM-Omni reads forms only. Without frames or seconds it would make a single frame.
  'vllm-omni': {
    body: vllmForm,
    forgetsJobs: true,
    listsPrompts: true,
    deletes: 'stops',
    videoUrl: contentPath,
  },
  // SGLang forgets a deleted job while the GPU still runs it, so the time at which its slot is free would be unknown.
  sglang: {
    body: (create) => {
      const { negativePrompt } = create.input;
      return formOrJson(create, {
        ...(negativePrompt !== undefined && { negative_prompt: negativePrompt }),
        seed: create.seed,
      });
    },
    forgetsJobs: true,
    listsPrompts: false,
    deletes: 'no',
    // With cloud storage the record has the address of the file, and the server has no content of its own.
    videoUrl: ({ id, url = '' }) => (/^https?:/.test(url) ? url : contentPath({ id })),
  },
  openrouter: {
    body: openRouterJson,
    clips: 'link',
    forgetsJobs: false,
    listsPrompts: false,
    deletes: 'no',
    videoUrl: (record) => `${contentPath(record)}?index=0`,
  },
  // As OpenAI described it: a form when there is a file to send, else JSON. Its API has no seed, and rejects unknown fields.
  generic: {
    body: (create) => formOrJson(create, {}),
    forgetsJobs: false,
    listsPrompts: false,
    deletes: 'reports',
    videoUrl: contentPath,
  },
};

/** Returns the body of the create. Two requests under one `jobKey` request the same video. */
export async function bodyOfCreate(
  dialect: VideosDialect,
  request: JobRequest,
  config: FrozenConfig,
): Promise<RequestBody> {
  const parameters = parametersSchema.parse(config.options['parameters'] ?? {});
  const { input, mediaLinks } = request;
  const media = await request.media();
  return await dialect.body({
    input,
    mediaLinks,
    model: config.upstreamModel,
    size: frameSizeForUpstream(input, adaptiveRatioImage(media), parameters),
    seed: seedOf(request),
    media,
    parameters,
  });
}

type Fields = readonly (readonly [string, string | FormFile])[];

function commonFields({ model, input: { prompt, duration } }: Create): Fields {
  return [
    ['model', model],
    ['prompt', prompt],
    ['seconds', String(duration)],
  ];
}

async function vllmForm(create: Create): Promise<RequestBody> {
  const { input, parameters, size, seed } = create;
  const chosen = Object.entries(numbersOf(create, 24));
  const files = imagesOf(create, isMinimaxH3(create.model));
  return await formBody(
    withFixed(parameters, [
      ...commonFields(create),
      ...(input.negativePrompt === undefined ? [] : [['negative_prompt', input.negativePrompt] as const]),
      ['width', String(size.widthPx)],
      ['height', String(size.heightPx)],
      ...chosen.filter(([name]) => isFormField(name)).map(([name, value]) => [name, String(value)] as const),
      ['seed', String(seed)],
      ['generate_sound', String(input.generateAudio)],
      // Models that make sound take their length from here, and options that the form does not have belong here.
      [
        'extra_params',
        JSON.stringify({
          duration: input.duration,
          ...taskOfReferences(create),
          ...parameters.extra,
          ...Object.fromEntries(chosen.filter(([name]) => !isFormField(name))),
          ...taskOfFrames(create),
        }),
      ],
      ...(await imageFields(files.length === 1 ? 'input_reference' : 'input_references', files)),
    ]),
  );
}

/** A fixed field replaces one of its name. */
function withFixed({ form }: Parameters, fields: Fields): Fields {
  const fixed = Object.entries(form).map(([name, value]) => [name, String(value)] as const);
  return [...fields.filter(([name]) => !Object.hasOwn(form, name)), ...fixed];
}

function isFormField(name: string): boolean {
  return name === 'num_frames' || isVllmField(name);
}

/** The frames first; no server takes them together with references. Most would begin the video with a last frame. */
function imagesOf({ media: { firstFrame, lastFrame, images } }: Create, takesLastFrame: boolean) {
  return [firstFrame, takesLastFrame ? lastFrame : undefined, ...images].filter((one) => one !== undefined);
}

/** Without this name of the task, MiniMax-H3 would begin the video with the images, and refuse more than two. */
function taskOfReferences({ model, media: { images } }: Create): { readonly task?: string } {
  return images.length > 0 && isMinimaxH3(model) ? { task: 'ref2va' } : {};
}

function taskOfFrames({ model, media: { firstFrame, lastFrame } }: Create): { readonly task?: string } {
  return (firstFrame ?? lastFrame) !== undefined && isMinimaxH3(model) ? { task: 'fl2va' } : {};
}

/** The client's options, and the parameters of the catalogue that no option replaces. */
function numbersOf({ input, parameters }: Create, standardFps?: number): Readonly<Record<string, OptionValue>> {
  const { fps: fixedFps = standardFps, steps } = parameters;
  const options = optionsAsUpstreamFields('openai-videos', input.options);
  const fps = typeof options['fps'] === 'number' ? options['fps'] : fixedFps;
  return {
    ...(steps !== undefined && { num_inference_steps: steps }),
    ...options,
    ...(fps !== undefined && { fps, num_frames: Math.round(fps * input.duration) }),
  };
}

async function imageFields(name: string, images: readonly PreparedReferenceImage[]): Promise<Fields> {
  return (await shrinkImagesToFit(images, maxImageBytes)).map((jpeg, index) => [name, jpegFile(jpeg, index)] as const);
}

async function formOrJson(create: Create, more: Readonly<Record<string, string | number>>): Promise<RequestBody> {
  const { size, parameters } = create;
  const files = imagesOf(create, false);
  const fields: Fields = [...commonFields(create), ['size', `${size.widthPx}x${size.heightPx}`]];
  const others = { ...numbersOf(create), ...more };
  if (files.length === 0) return jsonBody({ ...parameters.extra, ...Object.fromEntries(fields), ...others });
  const all = Object.entries({ ...parameters.extra, ...others });
  return await formBody(
    withFixed(parameters, [
      ...fields,
      ...all.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const),
      ...(await imageFields('input_reference', files)),
    ]),
  );
}

/** The names of resolutions that differ from ours. */
const openRouterResolutions: Readonly<Partial<Record<Resolution, string>>> = { '1440p': '2K', '2160p': '4K' };

async function openRouterJson({ model, input, seed, media, mediaLinks, parameters }: Create): Promise<RequestBody> {
  const { firstFrame, lastFrame, images } = await imageDataUrlsByRole(media, maxImageBytes);
  const frames = [
    ...urlContentParts('image_url', firstFrame, { frame_type: 'first_frame' }),
    ...urlContentParts('image_url', lastFrame, { frame_type: 'last_frame' }),
  ];
  const references = [
    ...urlContentParts('image_url', images),
    ...urlContentParts('video_url', mediaLinks.videos),
    ...urlContentParts('audio_url', mediaLinks.audios),
  ];
  return jsonBody({
    ...parameters.extra,
    model,
    prompt: input.prompt,
    duration: input.duration,
    resolution: openRouterResolutions[input.resolution] ?? input.resolution,
    ...(input.ratio !== 'adaptive' && { aspect_ratio: input.ratio }),
    generate_audio: input.generateAudio,
    seed,
    ...(frames.length > 0 && { frame_images: frames }),
    ...(references.length > 0 && { input_references: references }),
  });
}
