import { z } from 'zod';
import type { MediaUrlPolicy, MediaKind } from './resolutions-ratios-and-field-bounds.ts';
import { type InputField, inputFields } from './input-fields.ts';

// The input of a task, and the input that a model declares: selections from the vocabulary of `input-fields.ts`.

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
  /** The end user whom the client named in the request of another API. */
  readonly endUser?: string;
  /** The name by which the client of another API named the model; its records show it. */
  readonly requestedModel?: string;
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
export const standardModelInput: ModelInput = {
  fields: standardFields() as unknown as ModelInput['fields'],
  exclusive: [],
};

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

export function fieldSchema(input: ModelInput, name: FieldName, rules: MediaUrlPolicy): z.ZodType {
  return anyField(name).request(input.fields[name] as never, rules);
}

export const recordedInputSchema = z.strictObject(
  Object.fromEntries(inputFieldNames.map((name) => [name, recordSchema(name)])) as {
    [Name in FieldName]: Name extends OptionalName ? z.ZodOptional<Fields[Name]['record']> : Fields[Name]['record'];
  },
);

function recordSchema(name: FieldName): z.ZodType {
  const { kind, record } = inputFields[name];
  return kind === 'optional' ? record.optional() : record;
}

const defaults = new WeakMap<ModelInput, Readonly<Record<string, unknown>>>();

/** The value of a field in a request that leaves it out; undefined for a field without a default. Computed once for each input. */
export function defaultOf(input: ModelInput, name: FieldName): unknown {
  const known =
    defaults.get(input) ?? Object.fromEntries(inputFieldNames.map((one) => [one, computeDefault(input, one)]));
  defaults.set(input, known);
  return known[name];
}

function computeDefault(input: ModelInput, name: FieldName): unknown {
  const bounds = input.fields[name];
  const standard = bounds === undefined ? undefined : anyField(name).standardValue?.(bounds as never);
  const isEmpty = name === 'options' && Object.keys(standard ?? {}).length === 0;
  return isEmpty ? undefined : standard;
}

type Given = { readonly [Name in FieldName]?: ValueOf<Name> | null | undefined };

/**
 * Returns the given values, with the defaults of the model for all others. By default, the model is one without a declaration of its own.
 */
export function withDefaults(given: Given, input: ModelInput = standardModelInput): TaskInput {
  const values = inputFieldNames.map((name) => {
    const standard = name === 'ratio' && followsFrame(given, input) ? 'adaptive' : defaultOf(input, name);
    const value = given[name] ?? standard;
    return [
      name,
      name === 'options' && value !== undefined ? { ...(standard as object), ...(value as object) } : value,
    ];
  });
  // Required fields were validated, and defaulted ones have a default.
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as TaskInput;
}

/** A frame has a ratio of its own, so it decides that of the video where the model can follow it and declares no default. */
function followsFrame({ firstFrameUrl, lastFrameUrl }: Given, { fields }: ModelInput): boolean {
  const { values, default: declared } = fields.ratio;
  return (firstFrameUrl ?? lastFrameUrl ?? null) !== null && declared === undefined && values.includes('adaptive');
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

/** True for a field whose value is a number or a boolean, which forms send as text. */
export function isNumberOrBooleanField(name: string): boolean {
  const field = inputFieldNames.find((one) => one === name);
  return field !== undefined && ['number', 'boolean'].includes(inputFields[field].record.def.type);
}

/** All media that a request refers to, in the order of the vocabulary. */
export function mediaUrlsOf(input: TaskInput): readonly MediaUrl[] {
  return mediaFields.flatMap(({ name, media: kind }) => {
    const value = input[name];
    if (typeof value === 'string') return [{ field: name, path: `input.${name}`, kind, url: value }];
    const urls = Array.isArray(value) ? (value as readonly string[]) : [];
    return urls.map((url, index) => ({ field: name, path: `input.${name}[${index}]`, kind, url }));
  });
}

/** True if a request has a value for the field. An empty list counts as absent. */
export function isPresent(input: TaskInput, name: FieldName): boolean {
  const value = input[name];
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

/** The fields that must be sent together with this one. */
export function fieldsRequiredWith({ fields }: ModelInput, name: FieldName): readonly string[] {
  // Options are a map of names, one of which may be `requires`.
  const bounds = (name === 'options' ? {} : (fields[name] ?? {})) as { readonly requires?: readonly string[] };
  return bounds.requires ?? [];
}
