import { z } from 'zod';
import { currencySchema } from '../prices/upstream-cost.ts';
import { parseFileData, type FileProblem } from '../file/file-data-and-problems.ts';
import { providerFileRulesSchema } from '../models/input-rules.ts';
import { exampleSchema } from './provider-file-example-schema.ts';
import { temporaryErrorKinds } from './provider-file-error-kinds.ts';
import { permanentErrorKinds } from './provider-file-error-kinds.ts';
import { compileExpression, type Expression, ExpressionError } from './jsonata-expression.ts';

// The schema of a file that describes a job API over HTTP.

/** The file is frozen with each job, beside parameters and settings, in 64 KiB (`provider_configs` in migration 0002). */
const maxFileBytes = 40_960;

/** Returns the file, or all of its problems. */
export function parseProviderFile(data: unknown): {
  readonly file?: ProviderFile;
  readonly problems: readonly FileProblem[];
} {
  const { data: file, problems } = parseFileData(providerFile, data);
  if (file !== undefined && Buffer.byteLength(JSON.stringify(data)) > maxFileBytes)
    return { problems: [{ path: [], message: `must be at most ${maxFileBytes} bytes as JSON` }] };
  return file === undefined ? { problems } : { file, problems };
}

export type ProviderFile = z.output<typeof providerFile>;

/** The published schema of such a file; an editor with it finds most problems while the file is written. */
export function providerFileJsonSchema(): object {
  const schema = z.toJSONSchema(providerFile, { io: 'input' });
  return { title: 'A job API over HTTP as a provider of Videogen', ...schema };
}

const expression = z
  .string()
  .min(1)
  .transform((text, context): Expression => {
    try {
      return compileExpression(text);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  })
  .meta({
    id: 'Expression',
    description:
      'JSONata. It reads model, parameters, input (prompt, negativePrompt, resolution, duration, ratio, generateAudio, seed, options; ' +
      'written alone it is all of them), imageCount, hasFirstFrame, hasLastFrame, videoCount, audioCount, jobKey; when a job is ' +
      'created also width, height, images, firstFrame, lastFrame, videos, audios (each with url, as a data URL also with base64, after an upload only with uploaded), ' +
      'accountHash, deadlineSeconds; later also job (id, handle); of an answer status and body. A list of one collapses unless it ' +
      'is written as [images.url]. $fromJson reads JSON in a text; $snakeKeys renames cfgScale in a map to cfg_scale.',
  });

const secretName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,59}$/, { error: 'must be a name in `secrets` of the provider' });
const headerName = z.string().regex(/^[\w-]{1,100}$/, { error: 'must be the name of a header' });
const headerValue = z.string().regex(/^[\x20-\x7e]{0,1000}$/, { error: 'must be plain ASCII text' });
const queryName = z.string().regex(/^[\w.-]{1,100}$/, { error: 'must be the name of a query parameter' });

const auth = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({ kind: z.literal('bearer') }),
    z.strictObject({ kind: z.literal('header'), name: headerName, prefix: headerValue.default('') }),
    z.strictObject({ kind: z.literal('query'), name: queryName }),
    z
      .strictObject({
        kind: z.literal('jwtHs256'),
        issuer: secretName,
        secret: secretName,
        ttlSeconds: z.int().min(60).max(86_400).default(1800),
      })
      .meta({
        description: 'A bearer token that is signed anew for each request with two of the `secrets` of the provider.',
      }),
    z
      .strictObject({
        kind: z.literal('googleServiceAccount'),
        secret: secretName,
        scope: headerValue.default('https://www.googleapis.com/auth/cloud-platform'),
      })
      .meta({
        description:
          'A bearer token for Google Cloud, signed anew for each request with the JSON key of a service account, which is one of the `secrets`.',
      }),
  ])
  .meta({ description: 'The authentication of requests; the catalogue names the key itself.' });

const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const json = expression.optional().meta({ description: 'The body of the request; none without it.' });
const request = { method: method.default('GET'), path: expression, json };

const upload = z
  .strictObject({
    path: expression,
    field: z
      .string()
      .regex(/^[\w.-]{1,100}$/)
      .meta({ description: 'The field of the form that holds the file.' }),
    value: expression.meta({ description: 'The name or number under which the upstream stored the image.' }),
  })
  .meta({ description: 'A request (multipart/form-data) for each image before a job is created.' });

const create = z.strictObject({
  method: method.default('POST'),
  path: expression.meta({ description: 'The path below the base URL, with its query.' }),
  json: expression.meta({ description: 'The body of the request; fields without a value are left out.' }),
  accepted: expression.optional().meta({
    description: 'True when a 2xx answer means that there is a job now; without it every 2xx with an id does.',
  }),
  refused: expression.optional().meta({
    description:
      'True when an answer proves that there is no job. A 4xx with an error of the vendor proves it without this.',
  }),
  id: expression,
  handle: expression
    .optional()
    .meta({ description: 'A map that is stored with the job, such as addresses in the answer.' }),
});

const find = z
  .strictObject({
    ...request,
    id: expression.meta({
      description: 'The ids of the jobs that may be the lost one; they also read intendedAt, in Unix ms.',
    }),
    handle: expression.optional(),
    complete: expression.optional().meta({
      description:
        'True when the answer has every job since intendedAt. Any other answer is requested again, for ten minutes. Without this, ' +
        'every 2xx with JSON counts as complete, and so does a 404 if the address has jobKey.',
    }),
  })
  .meta({
    description: 'A request that finds a job whose creation was not answered. Without it such a job is abandoned.',
  });

const status = z.strictObject({
  ...request,
  state: expression,
  states: z
    .record(z.string(), z.enum(['queued', 'running', 'succeeded', 'failed']))
    .refine((words) => Object.values(words).includes('succeeded'), { error: 'must have a word for succeeded' })
    .meta({ description: 'The states of the upstream. Any other state means running.' }),
  progress: expression.optional().meta({ description: '0 to 100.' }),
  missing: expression
    .optional()
    .meta({ description: 'True when the upstream itself reports that the job is unknown.' }),
  minSeconds: z.number().min(0.1).max(60).default(0.5).meta({ description: 'The least time between two requests.' }),
});

const result = z.strictObject({
  method: method.default('GET'),
  path: expression.optional().meta({ description: 'A second request about a job that succeeded, for its video.' }),
  json,
  url: expression.meta({ description: 'The address of the video.' }),
  failed: expression.optional().meta({ description: 'True when the second answer reports that the job failed.' }),
});

const cancel = z.strictObject({
  method,
  path: expression,
  json,
  cancelled: expression.meta({ description: 'True when the job is stopped.' }),
  ended: expression.optional().meta({ description: 'True when the job was over already.' }),
});

const errorRule = z.strictObject({
  status: z.int().min(100).max(599).optional(),
  code: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'The whole code; ABC* for every code that begins so.' }),
  contains: z.string().min(1).max(100).optional().meta({ description: 'A part of the message; case does not count.' }),
  kind: z.enum([...permanentErrorKinds, ...temporaryErrorKinds, 'unknown']).meta({
    description:
      'content and image end the task; input and upstream are this provider only; busy, overloaded and operator are waited for; ' +
      'unknown: a job may have been created.',
  }),
});

export type ErrorRule = z.output<typeof errorRule>;

const providerFile = z
  .strictObject({
    auth,
    headers: z.record(headerName, headerValue).default({}).meta({
      description: 'Sent with every request. No secrets. The value $uuid is another UUID for each request.',
    }),
    keyOrigins: z
      .array(z.string().regex(/^https:\/\/[\w.-]+(?::\d{1,5})?$/, { error: 'must be an https origin' }))
      .max(5)
      .default([])
      .meta({ description: 'Other origins that get the key when a video is downloaded from them.' }),
    images: z.enum(['link', 'data-url', 'upload']).meta({
      description:
        'link: the upstream fetches images from us, so PUBLIC_URL must be reachable; data-url: they are in the request; ' +
        'upload: they are sent before, and the request has what the upstream named them.',
    }),
    upload: upload.optional(),
    maxImageBytes: z
      .int()
      .min(10_000)
      .max(60_000_000)
      .default(20_000_000)
      .meta({ description: 'The limit of all data URLs together.' }),
    clips: z.enum(['link', 'data-url']).default('link').meta({
      description: 'The same for reference video and audio.',
    }),
    maxClipBytes: z
      .int()
      .min(10_000)
      .max(60_000_000)
      .default(20_000_000)
      .meta({ description: 'The limit of the data URLs of all reference video and audio together.' }),
    imageReference: z.string().max(50).includes('{n}').optional().meta({
      description: 'The form in which prompts refer to images there, such as [Image{n}].',
    }),
    keepsJobsHours: z.int().min(1).max(168).default(24).meta({ description: 'After this the upstream forgets a job.' }),
    rules: providerFileRulesSchema.max(50).default([]).meta({
      description:
        'Requests that the vendor is known to reject, which are not charged. The catalogue can add rules, not remove them.',
    }),
    create,
    find: find.optional(),
    status,
    result,
    cancel: cancel.optional(),
    error: z
      .strictObject({ code: expression.optional(), message: expression.optional() })
      .default({})
      .meta({ description: "The vendor's own error in an answer; a body without either is not the vendor's." }),
    errors: z
      .array(errorRule)
      .max(200)
      .default([])
      .meta({ description: 'The meaning of errors; the first matching rule counts.' }),
    cost: z
      .strictObject({ amount: expression, currency: currencySchema.default('USD') })
      .optional()
      .meta({ description: 'The cost of the job in the currency, where its last status has it.' }),
    example: exampleSchema,
  })
  .refine((file) => (file.images === 'upload') === (file.upload !== undefined), {
    path: ['upload'],
    error: 'must stand in the file if images are uploaded, and not otherwise',
  });
