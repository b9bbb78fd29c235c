import { z } from 'zod';
import { allowedValuesText, type RefuseUrl, urlSchema } from './url-schema-and-text-checks.ts';
import { notListMessage, notNumberMessage } from './spelling-suggestions.ts';

// The bounds that a model of the catalogue may set for its fields, and the schemas of requests that follow from them.

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

export type MediaKind = 'image' | 'video' | 'audio';

/** The addresses that the installation rejects. */
export type MediaUrlPolicy = { readonly refuseMediaUrl: RefuseUrl };

/** A value of `values`, and the one that is used by default. */
export function choiceBoundsSchema<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z
    .strictObject({ values: z.array(z.enum(values)).min(1).max(values.length), default: z.enum(values).optional() })
    .refine((bounds) => bounds.default === undefined || bounds.values.includes(bounds.default), {
      path: ['default'],
      error: 'must be one of values',
    })
    .refine((bounds) => new Set(bounds.values).size === bounds.values.length, {
      path: ['values'],
      error: 'must not contain a value twice',
    });
}

export const declaredDurationSchema = z.int().min(inputLimits.minDuration).max(inputLimits.maxDuration);
export const durationBoundsSchema = z.union(
  [
    z
      .strictObject({
        min: declaredDurationSchema,
        max: declaredDurationSchema,
        default: declaredDurationSchema.optional(),
      })
      .refine(({ min, max }) => min <= max, { path: ['max'], error: 'must be at least min' })
      .refine(({ min, max, default: value }) => value === undefined || (value >= min && value <= max), {
        path: ['default'],
        error: 'must be from min to max',
      }),
    z
      .strictObject({
        values: z.array(declaredDurationSchema).min(1).max(60),
        default: declaredDurationSchema.optional(),
      })
      .refine(({ values, default: value }) => value === undefined || values.includes(value), {
        path: ['default'],
        error: 'must be one of values',
      }),
  ],
  {
    error: `must be { min, max } or { values } in whole seconds from ${declaredDurationSchema.minValue} to ${declaredDurationSchema.maxValue}`,
  },
);
export type DurationBounds = z.output<typeof durationBoundsSchema>;

/** The durations that a model sells, in ascending order. */
export function durationsOf(bounds: DurationBounds): readonly number[] {
  if ('values' in bounds) return bounds.values.toSorted((a, b) => a - b);
  return Array.from({ length: bounds.max - bounds.min + 1 }, (_, index) => bounds.min + index);
}

export function defaultDuration(bounds: DurationBounds): number {
  if (bounds.default !== undefined) return bounds.default;
  const durations = durationsOf(bounds);
  const [first = 5] = durations;
  return durations.includes(5) ? 5 : first;
}

/** Fields that a client must send together with this one. */
export const requiresFieldsSchema = z
  .union([z.string(), z.array(z.string()).min(1).max(10)], { error: 'must be the name of a field, or a list of names' })
  .transform((names) => [names].flat())
  .optional();
export const singleUrlBoundsSchema = z.strictObject({
  required: z.boolean().optional(),
  requires: requiresFieldsSchema,
});
export const megabytesBoundSchema = (standard: number) => z.int().min(1).max(1000).default(standard);
export const clipBoundsShape = {
  min: z.int().min(0).max(20).default(0),
  max: z.int().min(1).max(20),
  requires: requiresFieldsSchema,
  maxSeconds: z.int().min(1).max(600).default(60),
};
export const isMinAtMostMax = ({ min = 0, max }: { min?: number | undefined; max: number }) => min <= max;
export const minAboveMaxIssue = { path: ['max'], error: 'must be at least min' };

export type CountBounds = { readonly min?: number | undefined; readonly max: number };
export type ClipBounds = CountBounds & {
  readonly requires?: string[] | undefined;
  readonly maxSeconds: number;
  readonly maxMegabytes: number;
};

export function urlsSchema(
  { min = 0, max }: CountBounds,
  { refuseMediaUrl }: MediaUrlPolicy,
  kind: MediaKind,
  description: string,
) {
  const amount = min === max ? `${max}` : min === 0 ? `at most ${max}` : `${min} to ${max}`;
  const schema = z
    .array(urlSchema(refuseMediaUrl, true).meta({ contentMediaType: `${kind}/*` }), {
      error: notListMessage(`must be an array of ${amount} URLs`),
    })
    .max(max, { error: max === 0 ? 'is not supported by this model; leave it out' : `must hold ${amount} URLs` })
    .min(min, { error: `must hold ${amount} URLs` })
    .meta({ description });
  return min === 0 ? schema.nullish() : schema;
}

export const maxSeed = 2_147_483_647;

export function defaultChoice<Value extends string>(
  { values, default: standard }: { readonly values: readonly Value[]; readonly default?: Value | undefined },
  usual: Value,
): Value {
  const [first = usual] = values;
  return standard ?? (values.includes(usual) ? usual : first);
}

export function durationSchema(bounds: DurationBounds) {
  const durations = durationsOf(bounds);
  const seconds = z
    .number({ error: notNumberMessage('must be a number of seconds') })
    .transform((value) => Math.round(value));
  if ('values' in bounds) {
    return seconds
      .refine((value) => durations.includes(value), { error: `must be ${allowedValuesText(durations)} seconds` })
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
