import { z } from 'zod';
import { inputOptions, type OptionBounds, optionSchema, type OptionValue } from './input-options.ts';
import {
  anyOf,
  fitsCharacters,
  isPlainText,
  notPlainText,
  type RefuseUrl,
  required,
  urlSchema,
} from './request-text.ts';

// The vocabulary of a create request: each field of `input` is declared once, here. A model of the catalogue selects fields and bounds
// them; validation, defaults, JSON Schema, record, fingerprint and the dialect's spelling are made from the declaration. It imports zod,
// so workflow code must reach its types only.

/** Limits of the vocabulary: prompts in Unicode code points, durations in seconds. A model narrows them. */
export const inputLimits = { minDuration: 1, maxDuration: 60, maxPromptLength: 5000, maxImages: 20 };

export const resolutions = ['480p', '540p', '720p', '768p', '1080p', '1440p', '2160p'] as const;
export type Resolution = (typeof resolutions)[number];

export const ratios = [
  'adaptive',
  '16:9',
  '9:16',
  '1:1',
  '4:3',
  '3:4',
  '21:9',
  '9:21',
  '3:2',
  '2:3',
  '5:4',
  '4:5',
] as const;
export type Ratio = (typeof ratios)[number];

/** The kinds of reference media. */
export type MediaKind = 'image' | 'video' | 'audio';

/** The model that a request is for, and the addresses that the installation rejects. */
export type FieldRules = { readonly model: string; readonly refuseMediaUrl: RefuseUrl };

/**
 * `required`: the client sends it. `defaulted`: part of every model and of every record. `optional`: part of the models that select it,
 * and of a record if the client sent it or the model has a default.
 */
type FieldKind = 'required' | 'defaulted' | 'optional';

type InputField<Value, Bounds, Kind extends FieldKind = FieldKind> = {
  readonly kind: Kind;
  /** The bounds that a model of the catalogue may set. */
  readonly bounds: z.ZodType<Bounds>;
  /** The bounds of the specification, which hold in models without `input`; a field without them is not part of such models. */
  readonly standard?: NoInfer<Bounds>;
  /** The values that a client may send; null and absence mean the default. */
  readonly request: (bounds: NoInfer<Bounds>, rules: FieldRules) => z.ZodType<NoInfer<Value> | null | undefined>;
  /** The value of a request that leaves the field out. */
  readonly standardValue?: (bounds: NoInfer<Bounds>) => NoInfer<Value> | undefined;
  /** The value as the record shows it. */
  readonly record: z.ZodType<Value>;
  /** Its name in the dialect `kie`. */
  readonly kie: string;
  /** The field holds addresses of media of this kind. */
  readonly media?: MediaKind;
};

function field<Value, Bounds, const Kind extends FieldKind>(
  declared: InputField<Value, Bounds, Kind>,
): InputField<Value, Bounds, Kind> {
  return declared;
}

/** A value of `values`, and the one that is used by default. */
function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z
    .strictObject({ values: z.array(z.enum(values)).min(1).max(values.length), default: z.enum(values).optional() })
    .refine((bounds) => bounds.default === undefined || bounds.values.includes(bounds.default), {
      path: ['default'],
      error: 'must be one of values',
    })
    .refine((bounds) => new Set(bounds.values).size === bounds.values.length, {
      path: ['values'],
      error: 'must not hold a value twice',
    });
}

const second = z.int().min(inputLimits.minDuration).max(inputLimits.maxDuration);
const durationBounds = z.union(
  [
    z
      .strictObject({ min: second, max: second, default: second.optional() })
      .refine(({ min, max }) => min <= max, { path: ['max'], error: 'must be at least min' })
      .refine(({ min, max, default: value = min }) => value >= min && value <= max, {
        path: ['default'],
        error: 'must be from min to max',
      }),
    z
      .strictObject({ values: z.array(second).min(1).max(60), default: second.optional() })
      .refine(({ values, default: value }) => value === undefined || values.includes(value), {
        path: ['default'],
        error: 'must be one of values',
      }),
  ],
  { error: `must be { min, max } or { values } in whole seconds from ${second.minValue} to ${second.maxValue}` },
);
type DurationBounds = z.output<typeof durationBounds>;

/** The durations that a model sells, in ascending order. */
export function durationsOf(bounds: DurationBounds): readonly number[] {
  if ('values' in bounds) return bounds.values.toSorted((a, b) => a - b);
  return Array.from({ length: bounds.max - bounds.min + 1 }, (_, index) => bounds.min + index);
}

function defaultDuration(bounds: DurationBounds): number {
  const [first = 5] = durationsOf(bounds);
  return bounds.default ?? (durationsOf(bounds).includes(5) ? 5 : first);
}

/** Fields that a client must send together with this one. */
const requires = z
  .union([z.string(), z.array(z.string()).min(1).max(10)])
  .transform((names) => [names].flat())
  .optional();
const singleUrl = z.strictObject({ required: z.boolean().optional(), requires });
const megabytes = (standard: number) => z.int().min(1).max(1000).default(standard);
const clipSeconds = z.int().min(1).max(600);
const clips = { min: z.int().min(0).max(20).default(0), max: z.int().min(1).max(20), requires };
const rightOrder = ({ min = 0, max }: { min?: number | undefined; max: number }) => min <= max;
const maxIsLess = { path: ['max'], error: 'must be at least min' };

function urlField(kie: string, description: string) {
  return field({
    kind: 'optional',
    bounds: singleUrl,
    request: ({ required: isRequired }, { refuseMediaUrl }) => {
      const schema = urlSchema(refuseMediaUrl).meta({ description, contentMediaType: 'image/*' });
      return isRequired === true ? schema : schema.nullish();
    },
    record: z.string(),
    kie,
    media: 'image',
  });
}

type Several = { readonly min?: number | undefined; readonly max: number };
export type ClipBounds = Several & {
  readonly requires?: string[] | undefined;
  readonly maxSeconds: number;
  readonly maxMegabytes: number;
};
export type VideoBounds = ClipBounds & { readonly maxPixels: number };

function urlsSchema({ min = 0, max }: Several, { refuseMediaUrl }: FieldRules, kind: MediaKind, description: string) {
  const amount = min === max ? `${max}` : min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const schema = z
    .array(urlSchema(refuseMediaUrl).meta({ contentMediaType: `${kind}/*` }), {
      error: required(`must be an array of ${amount} URLs`),
    })
    .max(max, { error: max === 0 ? 'must be empty' : `must hold ${amount} URLs` })
    .min(min, { error: `must hold ${amount} URLs` })
    .meta({ description });
  return min === 0 ? schema.nullish() : schema;
}

const maxSeed = 2_147_483_647;

/** `meta` adds rules to the OpenAPI document that JSON Schema cannot derive. */
export const inputFields = {
  prompt: field({
    kind: 'required',
    bounds: z.strictObject({
      maxCharacters: z.int().min(1).max(inputLimits.maxPromptLength).default(inputLimits.maxPromptLength),
    }),
    standard: { maxCharacters: inputLimits.maxPromptLength },
    request: ({ maxCharacters }) =>
      z
        .string({ error: required('must be a string') })
        .refine((prompt) => prompt.trim() !== '', { error: 'must not be empty or only white space' })
        .refine((prompt) => fitsCharacters(prompt, maxCharacters), {
          error: `must be at most ${maxCharacters} characters`,
        })
        .refine(isPlainText, { error: notPlainText })
        .meta({ minLength: 1, maxLength: maxCharacters, pattern: String.raw`\S` }),
    record: z.string(),
    kie: 'prompt',
  }),
  negativePrompt: field({
    kind: 'optional',
    bounds: z.strictObject({ maxCharacters: z.int().min(1).max(5000).default(2500), requires }),
    request: ({ maxCharacters }) =>
      z
        .string({ error: 'must be a string' })
        .refine((text) => fitsCharacters(text, maxCharacters), { error: `must be at most ${maxCharacters} characters` })
        .refine(isPlainText, { error: notPlainText })
        .meta({ description: 'A description of things that the video should not show.', maxLength: maxCharacters })
        .nullish(),
    record: z.string(),
    kie: 'negative_prompt',
  }),
  resolution: field({
    kind: 'defaulted',
    bounds: choice(resolutions),
    standard: { values: ['720p'] },
    request: (bounds) =>
      z
        .enum(bounds.values, { error: `must be ${anyOf(bounds.values)}` })
        .meta({ description: `Default ${defaultChoice(bounds, '720p')}.` })
        .nullish(),
    standardValue: (bounds) => defaultChoice(bounds, '720p'),
    record: z.enum(resolutions),
    kie: 'resolution',
  }),
  duration: field({
    kind: 'defaulted',
    bounds: durationBounds,
    standard: { min: 4, max: 15 },
    request: (bounds) => durationSchema(bounds).nullish(),
    standardValue: defaultDuration,
    record: z.int().meta({ description: 'Whole seconds.' }),
    kie: 'duration',
  }),
  ratio: field({
    kind: 'defaulted',
    bounds: choice(ratios),
    standard: { values: ['adaptive', '16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] },
    request: (bounds) =>
      z
        .enum(bounds.values, { error: `must be ${anyOf(bounds.values)}` })
        .meta({
          description: `Default ${defaultChoice(bounds, '16:9')}${
            bounds.values.includes('adaptive') ? '; `adaptive` takes the ratio nearest to the first image' : ''
          }.`,
        })
        .nullish(),
    standardValue: (bounds) => defaultChoice(bounds, '16:9'),
    record: z.enum(ratios),
    kie: 'aspect_ratio',
  }),
  generateAudio: field<boolean, { default?: boolean | undefined; fixed?: boolean | undefined }, 'defaulted'>({
    kind: 'defaulted',
    bounds: z
      .strictObject({ default: z.boolean().optional(), fixed: z.boolean().optional() })
      .refine((bounds) => bounds.default === undefined || bounds.fixed === undefined, {
        error: 'must have default or fixed, not both',
      }),
    standard: { default: true },
    request: ({ fixed, default: standard = true }) =>
      (fixed === undefined
        ? z.boolean({ error: 'must be true or false' })
        : z.literal(fixed, { error: `must be ${fixed}` })
      )
        .meta({ description: `Default ${fixed ?? standard}.` })
        .nullish(),
    standardValue: ({ fixed, default: standard = true }) => fixed ?? standard,
    record: z.boolean(),
    kie: 'generate_audio',
  }),
  imageUrls: field<readonly string[], Several & { requires?: string[] | undefined }, 'defaulted'>({
    kind: 'defaulted',
    bounds: z
      .strictObject({
        min: z.int().min(0).max(inputLimits.maxImages).default(0),
        max: z.int().min(0).max(inputLimits.maxImages),
        requires,
      })
      .refine(rightOrder, maxIsLess),
    standard: { min: 0, max: 9 },
    request: (bounds, rules) =>
      urlsSchema(bounds, rules, 'image', 'Reference images; none for text-to-video.') as z.ZodType<
        readonly string[] | null | undefined
      >,
    standardValue: () => [],
    record: z.array(z.string()),
    kie: 'reference_image_urls',
    media: 'image',
  }),
  firstFrameUrl: urlField('first_frame_url', 'The image with which the video begins.'),
  lastFrameUrl: urlField('last_frame_url', 'The image with which the video ends.'),
  videoUrls: field<readonly string[], VideoBounds, 'optional'>({
    kind: 'optional',
    bounds: z
      .strictObject({
        ...clips,
        maxSeconds: clipSeconds.default(60),
        maxMegabytes: megabytes(100),
        maxPixels: z.int().min(1).max(36_000_000).default(8_294_400).meta({ description: 'Width × height.' }),
      })
      .refine(rightOrder, maxIsLess),
    request: (bounds, rules) =>
      urlsSchema(bounds, rules, 'video', `Reference videos of at most ${bounds.maxSeconds} seconds each.`),
    record: z.array(z.string()),
    kie: 'reference_video_urls',
    media: 'video',
  }),
  audioUrls: field<readonly string[], ClipBounds, 'optional'>({
    kind: 'optional',
    bounds: z
      .strictObject({ ...clips, maxSeconds: clipSeconds.default(60), maxMegabytes: megabytes(30) })
      .refine(rightOrder, maxIsLess),
    request: (bounds, rules) =>
      urlsSchema(bounds, rules, 'audio', `Reference audio of at most ${bounds.maxSeconds} seconds each.`),
    record: z.array(z.string()),
    kie: 'reference_audio_urls',
    media: 'audio',
  }),
  seed: field({
    kind: 'optional',
    bounds: z
      .strictObject({ max: z.int().min(1).max(maxSeed).default(maxSeed), requires })
      .meta({ description: 'Videos can be repeated: a task without a seed gets one.' }),
    request: ({ max }) => {
      const error = `must be a whole number from 0 to ${max}`;
      return z
        .int({ error })
        .min(0, { error })
        .max(max, { error })
        .meta({ description: 'Repeats a video; chosen at random if left out, and shown in the record.' })
        .nullish();
    },
    record: z.int(),
    kie: 'seed',
  }),
  options: field<Readonly<Record<string, OptionValue>>, Readonly<Record<string, OptionBounds>>, 'optional'>({
    kind: 'optional',
    bounds: inputOptions,
    request: (bounds) =>
      z
        .strictObject(
          mapValues(bounds, (one) => requestedOption(one)),
          { error: 'must be an object' },
        )
        .transform((options) => withoutNulls(options))
        .meta({ description: "The model's own options." })
        .nullish(),
    standardValue: (bounds) => withoutNulls(mapValues(bounds, (one) => one.default)),
    record: z.record(z.string(), z.union([z.boolean(), z.number(), z.string()])),
    kie: 'options',
  }),
} as const;

function requestedOption(bounds: OptionBounds) {
  const { default: standard } = bounds;
  const schema = optionSchema(bounds);
  return (standard === undefined ? schema : schema.meta({ default: standard })).nullish();
}

function mapValues<Value, Made>(values: Readonly<Record<string, Value>>, make: (value: Value) => Made) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)] as const));
}

function withoutNulls(values: Readonly<Record<string, OptionValue | null | undefined>>): Record<string, OptionValue> {
  const given = Object.entries(values).filter(
    (one): one is [string, OptionValue] => one[1] !== null && one[1] !== undefined,
  );
  return Object.fromEntries(given);
}

function defaultChoice<Value extends string>(
  { values, default: standard }: { readonly values: readonly Value[]; readonly default?: Value | undefined },
  usual: Value,
): Value {
  const [first = usual] = values;
  return standard ?? (values.includes(usual) ? usual : first);
}

function durationSchema(bounds: DurationBounds) {
  const durations = durationsOf(bounds);
  const seconds = z.number({ error: 'must be a number of seconds' }).transform((value) => Math.round(value));
  if ('values' in bounds) {
    return seconds
      .refine((value) => durations.includes(value), { error: `must be ${anyOf(durations)} seconds` })
      .meta({ description: `Seconds; default ${defaultDuration(bounds)}.`, enum: [...durations] });
  }
  const { min, max } = bounds;
  return seconds
    .refine((value) => value >= min && value <= max, {
      error: `must be ${min} to ${max} seconds (a fraction is rounded to a whole number)`,
    })
    .meta({
      description: `Seconds, rounded half up to a whole number; default ${defaultDuration(bounds)}.`,
      minimum: min - 0.5,
      exclusiveMaximum: max + 0.5,
    });
}

type Fields = typeof inputFields;
export type FieldName = keyof Fields;
type ValueOf<Name extends FieldName> = Fields[Name] extends InputField<infer Value, infer _> ? Value : never;
type BoundsOf<Name extends FieldName> = Fields[Name] extends InputField<infer _, infer Bounds> ? Bounds : never;
type OptionalName = { [Name in FieldName]: Fields[Name]['kind'] extends 'optional' ? Name : never }[FieldName];

/** `input` of a create request after validation, every default filled in. `duration` is in whole seconds. */
export type TaskInput = { readonly [Name in Exclude<FieldName, OptionalName>]: ValueOf<Name> } & {
  readonly [Name in OptionalName]?: ValueOf<Name>;
};

/** A create request after validation; what recordInfo returns as `param`. */
export type TaskParam = {
  readonly model: string;
  readonly input: TaskInput;
  readonly callBackUrl?: string;
};

/** The fields that a model takes, with their bounds. */
export type ModelInput = {
  readonly fields: { readonly [Name in Exclude<FieldName, OptionalName>]: BoundsOf<Name> } & {
    readonly [Name in OptionalName]?: BoundsOf<Name>;
  };
  /** A request may have at most one field of each list. */
  readonly exclusive: readonly (readonly FieldName[])[];
};

export const inputFieldNames = Object.keys(inputFields) as readonly FieldName[];

/** The input of a model without a declaration of its own: that of the specification. */
export const standardInput: ModelInput = { fields: standardFields() as unknown as ModelInput['fields'], exclusive: [] };

function standardFields() {
  const standard = inputFieldNames.map((name) => [name, anyField(name).standard] as const);
  return Object.fromEntries(standard.filter(([, bounds]) => bounds !== undefined));
}

type AnyField = InputField<unknown, never>;

/** The declaration without its types, for code that treats all fields alike. */
function anyField(name: FieldName): AnyField {
  return inputFields[name] as unknown as AnyField;
}

/** The fields of a model in the order of the vocabulary. */
export function fieldsOfModel({ fields }: ModelInput): readonly FieldName[] {
  return inputFieldNames.filter((name) => fields[name] !== undefined);
}

/** The schema of one field in a request. */
export function fieldSchema(input: ModelInput, name: FieldName, rules: FieldRules): z.ZodType {
  return anyField(name).request(input.fields[name] as never, rules);
}

/** The schema of `input` in a record. */
export const inputRecordSchema = z.strictObject(
  Object.fromEntries(inputFieldNames.map((name) => [name, recordSchema(name)])) as {
    [Name in FieldName]: Name extends OptionalName ? z.ZodOptional<Fields[Name]['record']> : Fields[Name]['record'];
  },
);

function recordSchema(name: FieldName): z.ZodType {
  const { kind, record } = inputFields[name];
  return kind === 'optional' ? record.optional() : record;
}

/** The value of a field in a request that leaves it out; undefined for a field without a default. */
export function defaultOf(input: ModelInput, name: FieldName): unknown {
  const bounds = input.fields[name];
  const standard = bounds === undefined ? undefined : anyField(name).standardValue?.(bounds as never);
  const isEmpty = name === 'options' && Object.keys(standard ?? {}).length === 0;
  return isEmpty ? undefined : standard;
}

type Given = { readonly [Name in FieldName]?: ValueOf<Name> | null | undefined };

/** `input` with the defaults of the model filled in; the defaults of a model without a declaration by default. */
export function withDefaults(given: Given, input: ModelInput = standardInput): TaskInput {
  const values = inputFieldNames.map((name) => {
    const standard = defaultOf(input, name);
    const value = given[name] ?? standard;
    return [
      name,
      name === 'options' && value !== undefined ? { ...(standard as object), ...(value as object) } : value,
    ];
  });
  // Required fields were validated, and defaulted ones have a default.
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as TaskInput;
}

/** An address of reference media in an input; `path` is that of its field in the request. */
export type MediaUrl = {
  readonly field: FieldName;
  readonly path: string;
  readonly kind: MediaKind;
  readonly url: string;
};

/** The fields that hold addresses of media, and what they hold. */
export const mediaFields = inputFieldNames.flatMap((name) => {
  const { media } = anyField(name);
  return media === undefined ? [] : [{ name, media }];
});

/** All media that a request refers to, in the order of the vocabulary. */
export function mediaUrlsOf(input: TaskInput): readonly MediaUrl[] {
  return mediaFields.flatMap(({ name, media: kind }) => {
    const value = input[name];
    if (typeof value === 'string') return [{ field: name, path: `input.${name}`, kind, url: value }];
    const urls = Array.isArray(value) ? (value as readonly string[]) : [];
    return urls.map((url, index) => ({ field: name, path: `input.${name}[${index}]`, kind, url }));
  });
}

/** True if a request has a value for the field; an empty list is none. */
export function isPresent(input: TaskInput, name: FieldName): boolean {
  const value = input[name];
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

/** The fields that must be sent together with this one. */
export function requiredBy({ fields }: ModelInput, name: FieldName): readonly string[] {
  const { data } = z.object({ requires: z.array(z.string()) }).safeParse(fields[name]);
  return name === 'options' ? [] : (data?.requires ?? []);
}
