import { z } from 'zod';
import { arkFieldsSetByTask } from '../providers/options-as-upstream-fields.ts';
import { placeholderProblems } from '../providers/input-template-placeholders.ts';
import { costRuleSchema } from '../prices/upstream-cost.ts';
import { rulesSchema } from '../models/input-rules.ts';

// The schemas of providers, one for each kind. The names of the kinds are those of the adapters in src/providers.

export const providerNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,59}$/, { error: 'must be 1 to 60 letters, digits, dots, dashes or underscores' });

const secretForms = 'must be { env: NAME } or { file: PATH }; the secret itself does not belong in this file';

export const secretRefSchema = z
  .strictObject(
    {
      // A provider must not receive the settings of this service.
      env: z
        .string()
        .regex(/^(?!VIDEOGEN_|TEMPORAL_|DATABASE_|PG[A-Z]+$)[A-Z][A-Z0-9_]{0,99}$/, {
          error:
            'must name an environment variable in capitals that is no setting of this service, such as ARK_API_KEY',
        })
        .optional(),
      file: z.string().min(1).max(1000).optional(),
    },
    { error: secretForms },
  )
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), { error: secretForms })
  .meta({ id: 'Secret', oneOf: [{ required: ['env'] }, { required: ['file'] }] });

export type SecretRef = z.output<typeof secretRefSchema>;

/** Reads a secret for each use, so that a rotated one counts without a restart. */
export type SecretReader = (ref: SecretRef) => () => string;

export const operatorUrlSchema = z
  .string()
  .max(1000)
  .refine(isBaseUrl, { error: 'must be an http or https URL without user, password, query or fragment' })
  .transform((url) => url.replace(/\/+$/, ''))
  .meta({ format: 'uri', pattern: '^https?://' });

function isBaseUrl(url: string): boolean {
  if (!/^https?:\/\/[^\s?#]+$/.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === '' && password === '';
}

const imageReference = z
  .string()
  .max(50)
  .includes('{n}', { error: 'must contain {n}, which stands for the number of the image' });
const imageReferenceMeta = {
  description: 'The form in which prompts refer to images at this provider, such as @Image{n}.',
};

/** Concurrent jobs of one provider and upstream model, over all workers. */
export const jobLimitSchema = z.int().min(1).max(10_000);

/** The reaction to an upstream that refuses the content of the video that it has made. */
export const onRefusedOutputSchema = z.enum(['fail', 'resubmit']).meta({
  description:
    'If the upstream refuses the content of the video that it made: fail and refund the task, or create one more job, which needs ' +
    '`failedJobs: free`.',
});

type Defaults = { readonly limit: number; readonly onLostJob: 'fail' | 'resubmit' };

// If it is unknown whether a create made a job, another one on the operator's own machines costs computing time only. Elsewhere it may be
// billed twice, so the task is refunded unless the operator decides otherwise.
const hosted: Defaults = { limit: 20, onLostJob: 'fail' };
const ownServer: Defaults = { limit: 1, onLostJob: 'resubmit' };
const oneAtATime: Defaults = { limit: 1, onLostJob: 'fail' };

function common({ limit, onLostJob }: Defaults) {
  return {
    baseUrl: operatorUrlSchema,
    key: secretRefSchema.optional(),
    limit: jobLimitSchema.default(limit),
    timeouts: z.strictObject({ submitSeconds: z.int().min(1).max(600).default(60) }).prefault({}),
    onLostJob: z.enum(['fail', 'resubmit']).default(onLostJob).meta({
      description:
        'If a job cannot be found, or it is unknown whether it was created: fail and refund the task, or create another job.',
    }),
    failedJobs: z
      .enum(['free', 'billed'])
      .default('billed')
      .meta({ description: 'Whether the upstream bills failed jobs. After a free one the next provider is tried.' }),
    onRefusedOutput: onRefusedOutputSchema.default('fail'),
    cost: costRuleSchema.optional(),
    rules: rulesSchema.optional(),
    imageReference: imageReference.optional().meta(imageReferenceMeta),
  };
}

const polled = {
  pollsPerSecond: z.int().min(1).max(100).default(14).meta({ description: 'The limit of each worker.' }),
};

const path = z.string().regex(/^\/[\w./{}-]{1,200}$/, { error: 'must be a path, such as /v2/video_generation' });
export const arkCreatePath = '/contents/generations/tasks';

export const videoDialects = ['vllm-omni', 'sglang', 'openrouter', 'generic'] as const;

/** The name of a file, relative to the catalogue's. */
const fileName = z.string().min(1).max(1000);

export const providerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('own'),
    ...common(ownServer),
    ...polled,
    uploads: z.boolean().default(false).meta({
      description:
        'Gives each job a link by which the server may write its video into the bucket of the results, which it must reach.',
    }),
  }),
  z.strictObject({
    kind: z.literal('ark'),
    ...common(hosted),
    ...polled,
    // A job there may be billed, so a create whose response was lost is never sent again.
    onLostJob: z.literal('fail').default('fail'),
    imageReference: imageReference.default('@Image{n}').meta(imageReferenceMeta),
    paths: z
      .strictObject({
        create: path.default(arkCreatePath),
        get: path.includes('{id}', { error: 'must contain {id}' }).default(`${arkCreatePath}/{id}`),
        list: path.default(arkCreatePath),
      })
      .prefault({}),
    resultPath: z
      .string()
      .regex(/^\w+(\.\w+){0,5}$/, { error: 'must be names of fields with dots between them' })
      .default('content.video_url'),
  }),
  z.strictObject({
    kind: z.literal('openai-videos'),
    ...common(oneAtATime),
    ...polled,
    dialect: z.enum(videoDialects).default('generic'),
  }),
  z.strictObject({ kind: z.literal('comfyui'), ...common(ownServer), ...polled }),
  z.strictObject({ kind: z.literal('comfy-v2'), ...common(oneAtATime), ...polled }),
  z.strictObject({
    kind: z.literal('cog'),
    ...common(ownServer),
    // Its jobs exist only in connections. A run whose connection breaks is repeated, at most twice, so the setting of other kinds is fixed here.
    onLostJob: z.literal('resubmit').default('resubmit'),
  }),
  z.strictObject({
    kind: z.literal('http'),
    ...common(hosted),
    ...polled,
    secrets: z.record(providerNameSchema, secretRefSchema).optional(),
    file: fileName,
  }),
]);

/** A provider of the file with all defaults, or the one that is built in. */
export type ProviderSettings = z.output<typeof providerSchema> | { readonly kind: 'preview' };
export type ProviderKind = ProviderSettings['kind'];

/** The built-in provider, which no file declares. */
export const previewProviderName = 'preview';

/** Parameters, other settings and a file are frozen with each job, in at most 64 kB. */
const maxParameterBytes = 16_384;
const tooManyBytes = `must be at most ${maxParameterBytes} bytes as JSON`;
const json = z.record(z.string(), z.json()).refine((fields) => jsonBytes(fields) <= maxParameterBytes, {
  error: tooManyBytes,
});
function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** Inputs of a model, in which placeholders stand for the values of a task. */
const template = json.superRefine((inputs, context) => {
  for (const message of placeholderProblems(inputs)) context.addIssue({ code: 'custom', message });
});
const side = z.int().min(16).max(8192).optional();
const size = { width: side, height: side, fps: z.int().min(1).max(120).optional() };
const workflow = z.strictObject({ ...size, workflow: fileName });

/** Fields of a form, which are text: a list or an object would need a spelling of its own. */
const formFields = z
  .record(
    z.string().min(1),
    z.union([z.string(), z.number(), z.boolean()], { error: 'must be a text, number or boolean' }),
  )
  .refine((fields) => jsonBytes(fields) <= maxParameterBytes, { error: tooManyBytes });

export const parameterSchemas = {
  own: json,
  ark: json.superRefine((fields, context) => {
    for (const name of arkFieldsSetByTask.filter((field) => Object.hasOwn(fields, field))) {
      context.addIssue({ code: 'custom', path: [name], message: 'is set by this service from the task' });
    }
  }),
  'openai-videos': z.strictObject({
    ...size,
    steps: z.int().min(1).max(1000).optional(),
    extra: json.optional(),
    form: formFields.optional(),
  }),
  comfyui: workflow,
  'comfy-v2': workflow,
  cog: z.strictObject({ ...size, input: template }),
  http: json,
  preview: z.strictObject({}),
} as const satisfies Record<ProviderKind, z.ZodType>;

/** True if entries of the kind may have this parameter. Kinds that take any JSON do not declare theirs. */
export function declaresParameter(kind: unknown, parameter: 'workflow' | 'width'): boolean {
  return Object.entries(parameterSchemas).some(
    ([name, schema]) => name === kind && schema instanceof z.ZodObject && Object.hasOwn(schema.shape, parameter),
  );
}
