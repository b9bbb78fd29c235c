import { z } from 'zod';
import { placeholderFaults } from '../placeholders.ts';
import { costRule } from './cost.ts';
import { unknownName } from './faults.ts';
import { type modelRules, rules, rulesOfModel } from './rules.ts';

// Who generates: one entry for each upstream. The names of the kinds are those of the adapters.

export const providerName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,59}$/, { error: 'must be 1 to 60 letters, digits, dots, dashes or underscores' });

/** What the schemas have to know beside the data. */
export type Lookups = {
  /** What the kind of each provider is said to be, rightly or wrongly, also of those that no file declares. */
  readonly kinds: ReadonlyMap<string, unknown>;
  /** Why a file that the data refers to cannot be used. */
  readonly fileFault: (kind: 'workflow' | 'http', file: string) => string | undefined;
  /** Whether its upstream is to fetch images from us and cannot reach us; asked once the file was read without faults. */
  readonly lacksImages?: (provider: { readonly file: string; readonly baseUrl: string }) => boolean;
  /** What the file says that its upstream's models do not take; asked as above. */
  readonly rulesInFile?: (file: string) => z.output<typeof modelRules>;
  readonly secretFault: (ref: SecretRef) => string | undefined;
  /** After how many hours the upstream of the file forgets a job; asked once the file was read without faults. */
  readonly keepsJobsHours?: (file: string) => unknown;
};

const secretForms = 'must be { env: NAME } or { file: PATH }; the secret itself does not belong in this file';
const secretFields = z.strictObject(
  {
    // Settings of this service are not lent out.
    env: z
      .string()
      .regex(/^(?!VIDEOGEN_|TEMPORAL_|DATABASE_|PG[A-Z]+$)[A-Z][A-Z0-9_]{0,99}$/, {
        error: 'must name an environment variable in capitals that is no setting of this service, such as ARK_API_KEY',
      })
      .optional(),
    file: z.string().min(1).max(1000).optional(),
  },
  { error: secretForms },
);

/** Where a secret is. */
export type SecretRef = z.output<typeof secretFields>;

/** Gives a secret when it is needed, so that a rotated one counts without a restart and none lies in an object. */
export type SecretReader = (ref: SecretRef) => () => string;

function secret({ secretFault }: Lookups) {
  return secretFields
    .superRefine((ref, context) => {
      const message = (ref.env === undefined) === (ref.file === undefined) ? secretForms : secretFault(ref);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ id: 'Secret', oneOf: [{ required: ['env'] }, { required: ['file'] }] });
}

const baseUrl = z
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

type Defaults = { readonly limit: number; readonly onLostAnswer: 'fail' | 'resubmit' };

const imageReference = z
  .string()
  .max(50)
  .includes('{n}', { error: 'must contain {n}, which stands for the number of the image' });
const ofImageReference = { description: 'How prompts refer to images there, such as @Image{n}.' };

function common(key: ReturnType<typeof secret>, { limit, onLostAnswer }: Defaults) {
  return {
    baseUrl,
    key: key.optional(),
    limit: jobLimit.default(limit),
    timeouts: z.strictObject({ submitSeconds: z.int().min(1).max(600).default(60) }).prefault({}),
    onLostAnswer: z.enum(['fail', 'resubmit']).default(onLostAnswer).meta({
      description: 'When nobody can tell whether a job was created: fail and refund the task, or create another job.',
    }),
    failedJobs: z
      .enum(['free', 'billed'])
      .default('billed')
      .meta({ description: 'Whether the upstream bills failed jobs; after a free one the next provider is asked.' }),
    cost: costRule.optional(),
    rules: rules.optional(),
    imageReference: imageReference.optional().meta(ofImageReference),
  };
}

/** Jobs at the same time for each provider and upstream model, over all workers. */
export const jobLimit = z.int().min(1).max(10_000);

const polled = { pollsPerSecond: z.int().min(1).max(100).default(14).meta({ description: 'For each worker.' }) };

const uploading = {
  uploads: z.boolean().default(false).meta({
    description:
      'Gives each job a link by which the server may write its video into the bucket of the results, which it must reach.',
  }),
};

const path = z.string().regex(/^\/[\w./{}-]{1,200}$/, { error: 'must be a path, such as /v2/video_generation' });
const arkCreatePath = '/contents/generations/tasks';
const arkPaths = z.strictObject({
  create: path.default(arkCreatePath),
  get: path.includes('{id}', { error: 'must contain {id}' }).default(`${arkCreatePath}/{id}`),
  list: path.default(arkCreatePath),
});

const hosted = { limit: 20, onLostAnswer: 'fail' } as const;
const ownServer = { limit: 1, onLostAnswer: 'resubmit' } as const;

/** Files for the kind `http` that come with this service, in `assets/providers`. */
const shippedFiles = ['kie', 'fal-seedance', 'replicate-seedance', 'openrouter', 'minimax', 'kling', 'runway'];

export function providerSchema(lookups: Lookups) {
  const key = secret(lookups);
  return z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('own'), ...common(key, ownServer), ...polled, ...uploading }),
    z.strictObject({
      kind: z.literal('ark'),
      ...common(key, hosted),
      ...polled,
      // Every job there is billed, so a second one for the same task is never made.
      onLostAnswer: z.literal('fail').default('fail'),
      imageReference: imageReference.default('@Image{n}').meta(ofImageReference),
      paths: arkPaths.prefault({}),
      resultPath: z
        .string()
        .regex(/^\w+(\.\w+){0,5}$/, { error: 'must be names of fields with dots between them' })
        .default('content.video_url'),
    }),
    z.strictObject({
      kind: z.literal('openai-videos'),
      ...common(key, { limit: 1, onLostAnswer: 'fail' }),
      ...polled,
      dialect: z.enum(['vllm-omni', 'sglang', 'openrouter', 'generic']).default('generic'),
    }),
    z.strictObject({ kind: z.literal('comfyui'), ...common(key, ownServer), ...polled }),
    z.strictObject({ kind: z.literal('comfy-v2'), ...common(key, { limit: 1, onLostAnswer: 'fail' }), ...polled }),
    z.strictObject({ kind: z.literal('cog'), ...common(key, ownServer) }),
    z.strictObject({
      kind: z.literal('http'),
      ...common(key, hosted),
      ...polled,
      secrets: z.record(providerName, key).optional(),
      file: fileName('http', lookups),
    }),
  ]);
}

/** A provider of the file with all defaults, or one that our workers bring along. */
export type ProviderSettings = z.output<ReturnType<typeof providerSchema>> | { readonly kind: 'preview' };
export type ProviderKind = ProviderSettings['kind'];

/** The provider that our workers bring along, which no file declares. */
export const previewProvider = 'preview';

function fileName(kind: 'workflow' | 'http', { fileFault }: Lookups) {
  return z
    .string()
    .min(1)
    .max(1000)
    .superRefine((file, context) => {
      const shipped = kind === 'http' && file.startsWith('builtin:') ? file.slice('builtin:'.length) : undefined;
      const message = (shipped === undefined ? undefined : shippedFault(shipped)) ?? fileFault(kind, file);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    });
}

function shippedFault(name: string): string | undefined {
  return shippedFiles.includes(name) ? undefined : unknownName('built-in file', name, shippedFiles);
}

/** Frozen with each job, beside other settings, in 64 kB (migration 0012). */
const maxParameterBytes = 16_384;
const json = z.record(z.string(), z.json()).refine((fields) => byteLength(fields) <= maxParameterBytes, {
  error: `must be at most ${maxParameterBytes} bytes as JSON`,
});
function byteLength(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** Inputs of a model, in which placeholders stand for the values of a task. */
const filled = json.superRefine((template, context) => {
  for (const message of placeholderFaults(template)) context.addIssue({ code: 'custom', message });
});
const side = z.int().min(16).max(8192).optional();
const size = { width: side, height: side, fps: z.int().min(1).max(120).optional() };
/** Fields of a create request at Ark that are ours to set. */
const arkFields = ['model', 'content', 'ratio', 'duration', 'generate_audio', 'callback_url'].concat([
  'safety_identifier',
  'execution_expires_after',
]);

/** What an entry of a tier may say about its upstream model, by the kind of its provider. */
export function parameterSchemas(lookups: Lookups): Readonly<Record<ProviderKind, z.ZodType>> {
  const workflow = z.strictObject({ ...size, workflow: fileName('workflow', lookups) });
  return {
    own: json,
    ark: json.superRefine((fields, context) => {
      for (const name of arkFields.filter((field) => Object.hasOwn(fields, field))) {
        context.addIssue({ code: 'custom', path: [name], message: 'is set by this service from the task' });
      }
    }),
    'openai-videos': z.strictObject({ ...size, steps: z.int().min(1).max(1000).optional(), extra: json.optional() }),
    comfyui: workflow,
    'comfy-v2': workflow,
    cog: z.strictObject({ ...size, input: filled }),
    http: json,
    preview: z.strictObject({}),
  };
}

type Rules = z.output<typeof rules>;

const arkImages = { minPx: 300, maxPx: 6000, minAspect: 0.4, maxAspect: 2.5 };

/** What is known of an upstream without the operator's word. */
export function knownRules(
  settings: ProviderSettings,
  upstreamModel: string,
  { lacksImages = () => false, rulesInFile = () => [] }: Pick<Lookups, 'lacksImages' | 'rulesInFile'> = {},
): readonly Rules[] {
  if (settings.kind === 'http') {
    const unreached = lacksImages(settings) ? [{ images: { max: 0 } }] : [];
    return [...rulesOfModel(rulesInFile(settings.file), upstreamModel), ...unreached];
  }
  // Other paths mean another upstream with the same protocol.
  if (settings.kind === 'ark' && settings.paths.create === arkCreatePath) {
    const isFixed = upstreamModel.includes('seedance-2-5');
    return [{ images: arkImages, ...(isFixed && { ratiosWithImages: ['adaptive'] }) }];
  }
  // Its server stores the first image of a request and drops the others.
  const takesOne = settings.kind === 'openai-videos' && settings.dialect === 'sglang';
  return takesOne ? [{ images: { max: 1 } }] : [];
}
