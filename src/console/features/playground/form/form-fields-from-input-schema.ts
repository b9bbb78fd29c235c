import type { Model } from '../../../api/contract.ts';
import type { UploadKind } from '../../../../media/references/upload-limits-and-addresses.ts';
import {
  boundsOf,
  isObject,
  mediaKindOf,
  nonEmptyStringsOf,
  type InputValues,
} from '../../models/field-schema-helpers.ts';

// The form of the playground is made from the JSON Schema of the chosen model, so a new field of the vocabulary needs no code here.

export type Scalar = string | number | boolean;

export type ModelInputControl =
  | { readonly kind: 'text'; readonly maxLength: number; readonly isLong: boolean }
  | { readonly kind: 'choice'; readonly values: readonly Scalar[] }
  | { readonly kind: 'range'; readonly min: number; readonly max: number }
  | {
      readonly kind: 'number';
      readonly isWhole: boolean;
      readonly min: number | undefined;
      readonly max: number | undefined;
    }
  | { readonly kind: 'switch' }
  | {
      readonly kind: 'media';
      readonly media: UploadKind;
      readonly isList: boolean;
      readonly min: number;
      readonly max: number;
    };

export type ModelInputField = {
  readonly name: string;
  /** The object of `input` that holds the field, such as `options`. */
  readonly parent: string | undefined;
  /** The path that errors of the API have. */
  readonly path: string;
  readonly isRequired: boolean;
  readonly standard: unknown;
  readonly description: string;
  /** Fields that must be sent together with this one. */
  readonly needs: readonly string[];
  /** Fields that must be left out together with this one. */
  readonly excludes: readonly string[];
  readonly control: ModelInputControl;
};

/** The API uses this much of JSON Schema. */
type Schema = {
  readonly type?: string;
  readonly enum?: readonly Scalar[];
  readonly const?: Scalar;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly contentMediaType?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly allOf?: readonly { readonly not?: { readonly required?: readonly string[] } }[];
};

/** The fields of a model in the order of its schema. Fields that leave no choice are left out. */
export function inputFieldsOf({ inputSchema }: Model): readonly ModelInputField[] {
  return fieldsBelow(inputSchema, undefined);
}

/** The defaults of a model, also of fields that leave no choice. */
export function defaultInputOf({ inputSchema }: Model): InputValues {
  const { properties = {} }: Schema = inputSchema;
  const standards = Object.entries(properties).map(([name, schema]) => [name, schema.default] as const);
  return Object.fromEntries(standards.filter(([, standard]) => standard !== undefined));
}

function fieldsBelow(holder: Schema, parent: string | undefined): readonly ModelInputField[] {
  const { properties = {}, required = [], dependentRequired = {}, allOf = [] } = holder;
  const pairs = allOf.map(({ not }) => not?.required ?? []);
  return Object.entries(properties).flatMap(([name, schema]) => {
    if (schema.properties !== undefined && parent === undefined) return fieldsBelow(schema, name);
    const control = controlOf(schema, parent !== undefined);
    if (control === undefined) return [];
    const excludes = pairs.filter((pair) => pair.includes(name)).flatMap((pair) => pair.filter((one) => one !== name));
    const { default: standard, description = '' } = schema;
    const isRequired = required.includes(name);
    const path = `input.${parent === undefined ? '' : `${parent}.`}${name}`;
    return [
      {
        name,
        parent,
        path,
        isRequired,
        standard,
        description,
        needs: dependentRequired[name] ?? [],
        excludes,
        control,
      },
    ];
  });
}

/** Undefined for a field that leaves no choice. */
function controlOf(schema: Schema, isOwn: boolean): ModelInputControl | undefined {
  const { type } = schema;
  const media = mediaKindOf(schema);
  if (media !== undefined) {
    const { minItems: min = 0, maxItems: max = 1 } = schema;
    return max === 0 ? undefined : { kind: 'media', media, isList: type === 'array', min, max };
  }
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (values !== undefined) {
    return values.length > 1 ? { kind: 'choice', values } : undefined;
  }
  if (type === 'boolean') {
    // Without a default, neither state of a switch means that nothing is sent.
    return schema.default === undefined ? { kind: 'choice', values: [true, false] } : { kind: 'switch' };
  }
  if (type === 'integer' || type === 'number') {
    const { isRounded, min, max } = boundsOf(schema);
    const isWhole = isRounded || type === 'integer';
    if (isWhole && min !== undefined && max !== undefined && schema.default !== undefined && max - min <= 100) {
      return min === max ? undefined : { kind: 'range', min, max };
    }
    return { kind: 'number', isWhole, min, max };
  }
  if (type !== 'string') return undefined;
  return { kind: 'text', maxLength: schema.maxLength ?? 5000, isLong: !isOwn };
}

/** The value as the field takes it: what it does not take is replaced by its default. */
export function fittedValue({ control, standard }: ModelInputField, value: unknown): unknown {
  const { kind } = control;
  if (kind === 'text') return typeof value === 'string' ? value : (standard ?? '');
  if (kind === 'choice') return control.values.some((one) => one === value) ? value : standard;
  if (kind === 'switch') return typeof value === 'boolean' ? value : standard;
  if (kind === 'range') {
    const { min, max } = control;
    return Math.min(max, Math.max(min, Math.round(Number(value ?? standard) || min)));
  }
  // Also text that is no number: it is being typed.
  if (kind === 'number') return typeof value === 'number' || typeof value === 'string' ? value : standard;
  return control.isList ? nonEmptyStringsOf(value).slice(0, control.max) : nonEmptyStringsOf(value)[0];
}

/** True if the field would be sent. */
export function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

export function rawFieldValue(input: InputValues, { parent, name }: Pick<ModelInputField, 'parent' | 'name'>): unknown {
  const holder = parent === undefined ? input : input[parent];
  return isObject(holder) ? holder[name] : undefined;
}

export function withFieldValue(
  input: InputValues,
  { parent, name }: Pick<ModelInputField, 'parent' | 'name'>,
  value: unknown,
): InputValues {
  if (parent === undefined) return { ...input, [name]: value };
  const holder = input[parent];
  return { ...input, [parent]: { ...(isObject(holder) && holder), [name]: value } };
}
