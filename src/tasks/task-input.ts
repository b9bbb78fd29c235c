import { hash } from 'node:crypto';
import { z } from 'zod';

// The table of a create request's input fields. Validation, defaults, record, fingerprint, the dialect's spelling and the
// options of the command line are all made from it. It imports zod, so workflow code must reach its types only.

/** Limits of a create request: prompts in Unicode code points, durations in seconds. */
export const inputLimits = { minDuration: 4, maxDuration: 15, maxPromptLength: 5000, maxImages: 9 };
export type InputLimits = Readonly<typeof inputLimits>;

export const maxUrlLength = 2048;

export const ratios = ['adaptive', '16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const;
export type Ratio = (typeof ratios)[number];

/** Returns why an address is rejected, or undefined; the outbound guard's verdict on the literal. */
export type RefuseUrl = (url: string) => string | undefined;

/** The limits of an installation, and the URLs that it rejects. */
export type FieldRules = { readonly limits: InputLimits; readonly refuseImageUrl: RefuseUrl };

type InputField<Value> = {
  /** The values that a client may send; null and absence mean the default. */
  readonly request: (rules: FieldRules) => z.ZodType<NoInfer<Value> | null | undefined>;
  /** The value as the record shows it. */
  readonly record: z.ZodType<Value>;
  /** Fields without one are required. */
  readonly standard?: NoInfer<Value>;
  /**
   * The part of the field in the comparison with an earlier request under the same Idempotency-Key. A field that is added to the
   * table counts only when it differs from its default, so that earlier requests still match.
   */
  readonly fingerprint: 'always' | 'unless default';
  /** Its name in the dialect `kie`. */
  readonly kie: string;
  /** Its option on the command line, in commander's words; without one it has none there, or one with code of its own. */
  readonly option?: InputOption;
};

export type InputOption = { readonly flags: string; readonly description: string; readonly isNumber?: true };

function field<Value>(declared: InputField<Value>): InputField<Value> {
  return declared;
}

/** `meta` adds rules to the OpenAPI document that JSON Schema cannot derive. */
export const inputFields = {
  prompt: field({
    request: ({ limits: { maxPromptLength } }) =>
      z
        .string({ error: required('must be a string') })
        .refine((prompt) => prompt.trim() !== '', { error: 'must not be empty or only white space' })
        .refine((prompt) => fitsPrompt(prompt, maxPromptLength), {
          error: `must be at most ${maxPromptLength} characters`,
        })
        .refine(isPlainText, { error: notPlainText })
        .meta({ minLength: 1, maxLength: maxPromptLength, pattern: String.raw`\S` }),
    record: z.string(),
    fingerprint: 'always',
    kie: 'prompt',
  }),
  resolution: field({
    request: () => z.enum(['720p'], { error: 'must be 720p' }).meta({ description: 'Default 720p.' }).nullish(),
    record: z.literal('720p'),
    standard: '720p',
    fingerprint: 'always',
    kie: 'resolution',
  }),
  duration: field({
    request: ({ limits: { minDuration, maxDuration } }) =>
      z
        .number({ error: 'must be a number of seconds' })
        .transform((seconds) => Math.round(seconds))
        .refine((seconds) => seconds >= minDuration && seconds <= maxDuration, {
          error: `must be ${minDuration} to ${maxDuration} seconds (a fraction is rounded to a whole number)`,
        })
        .meta({
          description: 'Seconds, rounded half up to a whole number; default 5.',
          minimum: minDuration - 0.5,
          exclusiveMaximum: maxDuration + 0.5,
        })
        .nullish(),
    record: z.int().meta({ description: 'Whole seconds.' }),
    standard: 5,
    fingerprint: 'always',
    kie: 'duration',
    option: {
      flags: '--duration <seconds>',
      description: `${inputLimits.minDuration} to ${inputLimits.maxDuration}`,
      isNumber: true,
    },
  }),
  ratio: field({
    request: () =>
      z
        .enum(ratios, { error: `must be one of ${ratios.join(', ')}` })
        .meta({ description: 'Default 16:9; `adaptive` takes the ratio nearest to the first image.' })
        .nullish(),
    record: z.enum(ratios),
    standard: '16:9',
    fingerprint: 'always',
    kie: 'aspect_ratio',
    option: { flags: '--ratio <ratio>', description: ratios.join(', ') },
  }),
  generateAudio: field({
    request: () =>
      z
        .boolean({ error: 'must be true or false' })
        .meta({ description: 'Default true; does not affect the price.' })
        .nullish(),
    record: z.boolean(),
    standard: true,
    fingerprint: 'always',
    kie: 'generate_audio',
    option: { flags: '--no-audio', description: 'a silent video' },
  }),
  imageUrls: field<readonly string[]>({
    request: ({ limits: { maxImages }, refuseImageUrl }) =>
      z
        .array(urlSchema(refuseImageUrl), { error: `must be an array of at most ${maxImages} URLs` })
        .max(maxImages, { error: `must hold at most ${maxImages} URLs` })
        .meta({ description: 'Reference images; none for text-to-video.' })
        .nullish(),
    record: z.array(z.string()),
    standard: [],
    fingerprint: 'always',
    kie: 'reference_image_urls',
  }),
} as const;

type Fields = typeof inputFields;
type FieldName = keyof Fields;
type ValueOf<Name extends FieldName> = Fields[Name] extends InputField<infer Value> ? Value : never;

/** `input` of a create request after validation, every default filled in. `duration` is in whole seconds. */
export type TaskInput = { readonly [Name in FieldName]: ValueOf<Name> };

/** A create request after validation; what recordInfo returns as `param`. */
export type TaskParam = {
  readonly model: string;
  readonly input: TaskInput;
  readonly callBackUrl?: string;
};

export const inputFieldNames = Object.keys(inputFields) as readonly FieldName[];

/** One value for each field, made by `make`. */
function mapFields<Made>(make: (name: FieldName) => Made): Record<FieldName, Made> {
  // Every name of the table has its value.
  return Object.fromEntries(inputFieldNames.map((name) => [name, make(name)])) as Record<FieldName, Made>;
}

/** The schema of `input` in a request. */
export function inputRequestSchema(rules: FieldRules) {
  // Each schema keeps its type, which a record of their union would lose.
  const shape = mapFields((name) => inputFields[name].request(rules)) as {
    [Name in FieldName]: ReturnType<Fields[Name]['request']>;
  };
  return z.strictObject(shape, { error: required('must be an object') });
}

/** The schema of `input` in a record. */
export const inputRecordSchema = z.strictObject(
  mapFields((name) => inputFields[name].record) as { [Name in FieldName]: Fields[Name]['record'] },
);

/** `input` with its defaults filled in. */
export function withDefaults(input: { readonly [Name in FieldName]?: ValueOf<Name> | null | undefined }): TaskInput {
  return mapFields((name) => input[name] ?? inputFields[name].standard) as TaskInput;
}

/** SHA-256 of a validated request: equal for two requests that mean the same, whether defaults were written out or not. */
export function fingerprint({ model, input, callBackUrl }: TaskParam, fields = inputFields): Buffer {
  const names = Object.keys(fields) as readonly FieldName[];
  const always = names.filter((name) => fields[name].fingerprint === 'always').map((name) => input[name]);
  const chosen = names
    .filter((name) => fields[name].fingerprint === 'unless default')
    .map((name) => [name, input[name]] as const)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(fields[name].standard));
  return hash('sha256', JSON.stringify([model, ...always, callBackUrl ?? null, ...chosen]), 'buffer');
}

/** The schema of an address that a client gives. */
export function urlSchema(refuse: RefuseUrl) {
  return z
    .string({ error: 'must be an http or https URL' })
    .superRefine((url, context) => {
      const message = urlProblem(url) ?? refuse(url);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ format: 'uri', maxLength: maxUrlLength, pattern: '^[hH][tT][tT][pP][sS]?://' });
}

function urlProblem(url: string): string | undefined {
  if (url.length > maxUrlLength) return `must be at most ${maxUrlLength} characters`;
  const notHttp = 'must be an http or https URL';
  if (!/^\s*https?:\/\//i.test(url)) return notHttp;
  // White space and control characters are dropped or encoded by URL parsers, each in its own way.
  if (!isPlainText(url) || /[\s\p{Cc}]/u.test(url)) return 'must not contain white space or control characters';
  return URL.canParse(url) ? undefined : notHttp;
}

/** PostgreSQL can hold neither, so no request may bring them, in any field. */
export const notPlainText = 'must not contain NUL characters or unpaired surrogates';

export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Counts code points, but only of a string short enough to matter: a code point is at most two UTF-16 units. */
function fitsPrompt(prompt: string, maxLength: number): boolean {
  if (prompt.length > 2 * maxLength) return false;
  return [...prompt].length <= maxLength;
}

/** Distinguishes a missing value from an invalid one. */
export function required(otherwise: string) {
  return (issue: { readonly input?: unknown }) => (issue.input === undefined ? 'is required' : otherwise);
}
