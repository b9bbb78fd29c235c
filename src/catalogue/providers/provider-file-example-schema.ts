import { z } from 'zod';
import { inputLimits, ratios, resolutions } from '../input/resolutions-ratios-and-field-bounds.ts';
import { permanentErrorKinds, temporaryErrorKinds } from './provider-file-error-kinds.ts';

// The schema of the example in a file that describes a job API.

const exampleInput = z.strictObject({
  prompt: z.string(),
  negativePrompt: z.string().optional(),
  resolution: z.enum(resolutions).optional(),
  duration: z.int().optional(),
  ratio: z.enum(ratios).optional(),
  generateAudio: z.boolean().optional(),
  seed: z.int().optional(),
  options: z.record(z.string(), z.union([z.boolean(), z.number(), z.string()])).optional(),
});
const mediaCount = z.int().min(0).max(inputLimits.maxImages);

const exchange = z.strictObject({
  step: z.enum(['create', 'find', 'status', 'cancel']),
  given: z
    .strictObject({
      ...exampleInput.partial().shape,
      model: z.string().optional(),
      imageCount: mediaCount.optional(),
      firstFrame: z.boolean().optional(),
      lastFrame: z.boolean().optional(),
      videoCount: mediaCount.optional(),
      audioCount: mediaCount.optional(),
    })
    .optional()
    .meta({ description: 'The input and the media of this exchange where they differ from those of the example.' }),
  request: z.string().regex(/^[A-Z]+ \S+$/, { error: 'must be a method and a path, such as GET /tasks/1' }),
  uploads: z
    .array(z.strictObject({ request: z.string(), status: z.int().min(100).max(599).default(200), answer: z.json() }))
    .max(20)
    .default([])
    .meta({ description: 'The uploads before the request, and their answers.' }),
  sends: z.json().optional(),
  status: z.int().min(100).max(599).default(200),
  answer: z.json().optional(),
  second: z
    .strictObject({ request: z.string(), status: z.int().min(100).max(599).default(200), answer: z.json().optional() })
    .optional()
    .meta({ description: 'The request of `result.path` and its answer.' }),
  means: z.enum([
    ...(['accepted', ...temporaryErrorKinds, ...permanentErrorKinds, 'unknown'] as const),
    ...(['queued', 'running', 'succeeded', 'missing', 'unclear', 'found', 'later'] as const),
    ...(['cancelled', 'ended', 'runs_on'] as const),
  ]),
});

export type ExampleExchange = z.output<typeof exchange>;

export const exampleSchema = z
  .strictObject({
    baseUrl: z.url(),
    model: z.string(),
    parameters: z.record(z.string(), z.json()).default({}),
    input: exampleInput,
    imageCount: mediaCount.default(0),
    jobKey: z.uuid().default('019abc12-3456-7def-8901-234567890abc'),
    job: z.strictObject({ id: z.string(), handle: z.record(z.string(), z.json()).default({}) }),
    video: z.url(),
    exchanges: z.array(exchange).min(1).max(100),
  })
  .meta({
    description: 'Requests and answers as the vendor documents them, and what they mean: the proof of the file.',
  });
