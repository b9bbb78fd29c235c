import { z } from 'zod';
import { type FrameSize, sizeOf } from '../../media/frame-size.ts';
import type { ReferenceImage } from '../../tasks/ports.ts';
import { resolutions } from '../../tasks/task-input.ts';
import type { FrozenConfig, JobRequest, JsonObject, RequestBody } from '../contract.ts';
import { fittingImages, imageDataUrls, multipartBody } from '../image-parts.ts';
import { seedOf } from '../task-values.ts';

// `POST /videos` began as OpenAI's. The servers and resellers that speak it differ in how a create is spelled, in what a DELETE
// does, and in where the video is.

/** The entry's `parameters` in the catalogue. */
const parametersSchema = z.object({
  width: z.int().optional(),
  height: z.int().optional(),
  resolution: z.enum(resolutions).optional(),
  fps: z.int().optional(),
  steps: z.int().optional(),
  extra: z.record(z.string(), z.json()).default({}),
});

type Parameters = z.output<typeof parametersSchema>;

/** Everything that a body is made of. */
type Create = Pick<JobRequest, 'input'> & {
  readonly model: string;
  readonly size: FrameSize;
  readonly seed: number;
  readonly images: readonly ReferenceImage[];
  readonly parameters: Parameters;
};

export type Dialect = {
  readonly body: (create: Create) => Promise<RequestBody>;
  /** Jobs are in the server's memory only. */
  readonly forgetsJobs: boolean;
  /** Its list of jobs shows their prompts, by which a lost one can be found. */
  readonly listsPrompts: boolean;
  /**
   * A DELETE that succeeds stops a running job, or only its answer shows whether it did, or the server has none that would stop one.
   */
  readonly deletes: 'stops' | 'reports' | 'no';
  /** Returns the address of the video from the record of a job that succeeded. */
  readonly videoUrl: (id: string, record: JsonObject) => string;
};

export const dialectNames = ['vllm-omni', 'sglang', 'openrouter', 'generic'] as const;
export type DialectName = (typeof dialectNames)[number];

/** Bytes of all images of a request. The servers name no limit; some proxies before them take 64 MB. */
const maxImageBytes = 40_000_000;

const contentPath = (id: string) => `/videos/${id}/content`;

export const dialects: Record<DialectName, Dialect> = {
  // vLLM-Omni reads forms only. Without frames or seconds it would make a single frame.
  'vllm-omni': {
    body: async (create) => {
      const { input, parameters, size, seed } = create;
      const { fps = 24, steps, extra } = parameters;
      const isOne = create.images.length === 1;
      return await multipartBody([
        ...commonFields(create),
        ['width', String(size.widthPx)],
        ['height', String(size.heightPx)],
        ['fps', String(fps)],
        ['num_frames', String(fps * input.duration)],
        ['seed', String(seed)],
        ['generate_sound', String(input.generateAudio)],
        ...(steps === undefined ? [] : [['num_inference_steps', String(steps)] as const]),
        // Models that make sound take their length from here.
        ['extra_params', JSON.stringify({ duration: input.duration, ...taskOf(create), ...extra })],
        ...(await imageFields(isOne ? 'input_reference' : 'input_references', create.images)),
      ]);
    },
    forgetsJobs: true,
    listsPrompts: true,
    deletes: 'stops',
    videoUrl: contentPath,
  },
  // SGLang forgets a deleted job while the GPU goes on with it, so the time at which its slot is free would be unknown.
  sglang: {
    body: formOrJson,
    forgetsJobs: true,
    listsPrompts: false,
    deletes: 'no',
    // With cloud storage the record has the address of the file, and the server has no content of its own.
    videoUrl: (id, { url }) => (typeof url === 'string' && /^https?:/.test(url) ? url : contentPath(id)),
  },
  openrouter: {
    body: async ({ model, input, seed, images, parameters }) =>
      jsonBody({
        ...parameters.extra,
        model,
        prompt: input.prompt,
        duration: input.duration,
        resolution: input.resolution,
        ...(input.ratio !== 'adaptive' && { aspect_ratio: input.ratio }),
        generate_audio: input.generateAudio,
        seed,
        ...(images.length > 0 && {
          input_references: (await imageDataUrls(images, maxImageBytes)).map((url) => ({
            type: 'image_url',
            image_url: { url },
          })),
        }),
      }),
    forgetsJobs: false,
    listsPrompts: false,
    deletes: 'no',
    videoUrl: (id) => `${contentPath(id)}?index=0`,
  },
  // As OpenAI described it: a form when there is a file to send, else JSON.
  generic: {
    body: formOrJson,
    forgetsJobs: false,
    listsPrompts: false,
    deletes: 'reports',
    videoUrl: contentPath,
  },
};

/** The body of the create. Two requests under one `jobKey` ask for the same video. */
export async function createBody(dialect: Dialect, request: JobRequest, config: FrozenConfig): Promise<RequestBody> {
  const parameters = parametersSchema.parse(config.options['parameters'] ?? {});
  const { images } = await request.media();
  return await dialect.body({
    input: request.input,
    model: config.upstreamModel,
    size: sizeOf(request.input, images[0], parameters),
    seed: seedOf(request),
    images,
    parameters,
  });
}

type Fields = readonly (readonly [string, string | Buffer])[];

function commonFields({ model, input: { prompt, duration } }: Create): Fields {
  return [
    ['model', model],
    ['prompt', prompt],
    ['seconds', String(duration)],
  ];
}

/** Without its word for references MiniMax-H3 would begin the video with the images, and refuse more than two. */
function taskOf({ model, images }: Create): { readonly task?: string } {
  return images.length > 0 && /minimax-h3/i.test(model) ? { task: 'ref2va' } : {};
}

async function imageFields(name: string, images: readonly ReferenceImage[]): Promise<Fields> {
  return (await fittingImages(images, maxImageBytes)).map((jpeg) => [name, jpeg] as const);
}

async function formOrJson(create: Create): Promise<RequestBody> {
  const { size, seed, images, parameters } = create;
  const { fps, steps, extra } = parameters;
  const numbers = {
    ...(fps !== undefined && { fps, num_frames: fps * create.input.duration }),
    ...(steps !== undefined && { num_inference_steps: steps }),
  };
  const fields: Fields = [...commonFields(create), ['size', `${size.widthPx}x${size.heightPx}`]];
  if (images.length === 0) return jsonBody({ ...extra, ...Object.fromEntries(fields), ...numbers, seed });
  const others = Object.entries({ ...extra, ...numbers, seed });
  return await multipartBody([
    ...fields,
    ...others.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const),
    ...(await imageFields('input_reference', images)),
  ]);
}

function jsonBody(body: object): RequestBody {
  return { contentType: 'application/json', bytes: JSON.stringify(body) };
}
