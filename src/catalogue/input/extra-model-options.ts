import { z } from 'zod';
import { fitsCharacters, isStorableText, notStorableTextMessage } from './url-schema-and-text-checks.ts';
import { notAmongMessage, notBooleanMessage, notNumberMessage } from './spelling-suggestions.ts';

// The options of one model: scalars that the vocabulary does not have, such as a style or a number of steps.

export type OptionValue = boolean | number | string;

const optionName = z.string().regex(/^[a-z][A-Za-z0-9]{0,39}$/, {
  error: 'must be 1 to 40 letters or digits, beginning with a lower-case letter',
});
const optionText = z.string().max(500).refine(isStorableText, { error: notStorableTextMessage });
const option = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('boolean'), default: z.boolean().optional() }),
    z.strictObject({
      type: z.enum(['integer', 'number']),
      min: z.number().optional(),
      max: z.number().optional(),
      values: z.array(z.number()).min(1).max(100).optional(),
      default: z.number().optional(),
    }),
    z.strictObject({
      type: z.literal('string'),
      values: z.array(optionText).min(1).max(100).optional(),
      maxCharacters: z.int().min(1).max(500).default(500),
      default: optionText.optional(),
    }),
  ])
  .superRefine((bounds, context) => {
    const { default: standard } = bounds;
    const problem = bounds.type === 'integer' || bounds.type === 'number' ? numbersProblem(bounds) : undefined;
    if (problem !== undefined) return context.addIssue({ code: 'custom', ...problem });
    if (standard === undefined) return;
    const [issue] = optionValueSchema(bounds).safeParse(standard).error?.issues ?? [];
    if (issue !== undefined) context.addIssue({ code: 'custom', path: ['default'], message: issue.message });
  });

type Numbers = {
  readonly type: 'integer' | 'number';
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly values?: readonly number[] | undefined;
};

function numbersProblem({ type, min = -Infinity, max = Infinity, values = [] }: Numbers) {
  if (min > max) return { path: ['max'], message: 'must be at least min' };
  const index = values.findIndex((value) => type === 'integer' && !Number.isInteger(value));
  return index === -1 ? undefined : { path: ['values', index], message: 'must be a whole number' };
}

export type OptionBounds = z.output<typeof option>;
export type OptionsBounds = Readonly<Record<string, OptionBounds>>;

/** The declaration of a model's options in the catalogue. */
export const declaredOptionsSchema = z
  .record(optionName, option)
  .refine((all) => Object.keys(all).length > 0 && Object.keys(all).length <= 50, {
    error: 'must have 1 to 50 options',
  });

export function optionValueSchema(bounds: OptionBounds): z.ZodType<OptionValue> {
  if (bounds.type === 'boolean') return z.boolean({ error: notBooleanMessage() });
  const { values } = bounds;
  if (values !== undefined) return z.literal(values, { error: notAmongMessage(values) });
  if (bounds.type === 'string') {
    const { maxCharacters } = bounds;
    return z
      .string({ error: 'must be a string' })
      .refine((text) => fitsCharacters(text, maxCharacters), { error: `must be at most ${maxCharacters} characters` })
      .refine(isStorableText, { error: notStorableTextMessage })
      .meta({ maxLength: maxCharacters });
  }
  const kind = bounds.type === 'integer' ? 'a whole number' : 'a number';
  const { min = -1_000_000_000, max = 1_000_000_000 } = bounds;
  const error = notNumberMessage(`must be ${kind} from ${min} to ${max}`, bounds.type === 'integer');
  const number = bounds.type === 'integer' ? z.int({ error }) : z.number({ error });
  return number.min(min, { error }).max(max, { error });
}

function requestedOption(bounds: OptionBounds) {
  const { default: standard } = bounds;
  const schema = optionValueSchema(bounds);
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

export function requestedOptionsSchema(bounds: OptionsBounds) {
  return z
    .strictObject(mapValues(bounds, requestedOption), { error: 'must be an object' })
    .transform((options) => withoutNulls(options))
    .meta({ description: "The model's own options." });
}

export function defaultOptions(bounds: OptionsBounds): Record<string, OptionValue> {
  return withoutNulls(mapValues(bounds, (one) => one.default));
}
