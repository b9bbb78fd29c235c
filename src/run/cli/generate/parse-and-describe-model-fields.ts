import type { Model } from '../../../../clients/typescript/src/index.ts';
import { unknownNameMessage } from '../../../platform/text/did-you-mean.ts';
import { usageError } from '../command-output-and-errors.ts';

// The fields of a model for `generate --set` and `generate --help MODEL`, read from the JSON Schema that the service publishes.

/** One field or option of a model, as its JSON Schema describes it. */
type Field = {
  readonly name: string;
  readonly isOption: boolean;
  readonly types: readonly string[];
  readonly schema: Schema;
  readonly isRequired: boolean;
};

type Schema = {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMaximum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly contentMediaType?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

/** The value of `--set`: of a field, or of one of the model's own options. `isMedia`: a text may be the path of a local file. */
export type FieldSetting = {
  readonly name: string;
  readonly isOption: boolean;
  readonly isList: boolean;
  readonly isMedia: boolean;
  readonly value: string | number | boolean;
};

function fieldsOf({ inputSchema }: Pick<Model, 'inputSchema'>): readonly Field[] {
  // `inputSchema` is the JSON Schema of an object.
  const { properties = {}, required = [] } = inputSchema as Schema;
  const fieldOf = (name: string, schema: Schema, isOption: boolean): Field => ({
    name,
    isOption,
    types: [schema.type ?? typesOfEnum(schema)].flat().filter((type) => type !== 'null'),
    schema,
    isRequired: !isOption && required.includes(name),
  });
  const { options, ...fields } = properties;
  return [
    ...Object.entries(fields)
      // The model has none of these.
      .filter(([, { maxItems }]) => maxItems !== 0)
      .map(([name, schema]) => fieldOf(name, schema, false)),
    ...Object.entries(options?.properties ?? {}).map(([name, schema]) => fieldOf(name, schema, true)),
  ];
}

function typesOfEnum({ enum: values = [] }: Schema): readonly string[] {
  return [...new Set(values.filter((value) => value !== null).map((value) => typeof value))];
}

/** Reads `name=value` by the model's schema; the service checks the bounds. */
export function parseFieldSetting(model: Model, text: string): FieldSetting {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  const fields = fieldsOf(model);
  const field = fields.find((one) => one.name === name);
  if (field === undefined) {
    const names = fields.map((one) => one.name);
    throw usageError(`--set ${text}: ${unknownNameMessage(`field of ${model.model}`, name, names)}`);
  }
  const { isOption, types, schema } = field;
  const isList = types.includes('array');
  const isMedia = (isList ? schema.items : schema)?.contentMediaType !== undefined;
  return { name, isOption, isList, isMedia, value: typedValue(field, value) };
}

function typedValue({ name, types }: Field, text: string): string | number | boolean {
  if (types.includes('boolean')) {
    if (text !== 'true' && text !== 'false') throw usageError(`--set ${name} must be true or false`);
    return text === 'true';
  }
  if (!types.includes('number') && !types.includes('integer')) return text;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw usageError(`--set ${name} must be a number`);
  return number;
}

export function describeFields(model: Pick<Model, 'model' | 'title' | 'inputSchema'>): readonly string[] {
  const fields = fieldsOf(model);
  const width = Math.max(...fields.map(({ name }) => name.length));
  return [`${model.model}: ${model.title}`, '', ...fields.map((field) => `  ${lineOf(field, width)}`)];
}

function lineOf({ name, isRequired, schema, types }: Field, width: number): string {
  const values = (schema.enum ?? []).filter((value) => value !== null);
  const facts = [
    values.length > 0 ? values.map(String).join(', ') : boundsOf(schema, types),
    isRequired ? 'required' : undefined,
    schema.description,
  ];
  return `${name.padEnd(width)}  ${facts.filter((fact) => fact !== undefined).join('; ')}`;
}

function boundsOf(schema: Schema, types: readonly string[]): string | undefined {
  const { minimum, maximum, exclusiveMaximum, maxLength, maxItems, items, contentMediaType } = schema;
  if (types.includes('array')) return `at most ${maxItems} URLs or files (${items?.contentMediaType ?? 'any'})`;
  if (contentMediaType !== undefined) return `URL or file (${contentMediaType})`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  // The bounds of a duration, which is rounded, are fractions; the whole numbers within them are shown.
  if (minimum !== undefined && exclusiveMaximum !== undefined)
    return `${Math.ceil(minimum)} to ${Math.ceil(exclusiveMaximum) - 1}`;
  if (schema.const !== undefined) return `always ${JSON.stringify(schema.const)}`;
  if (types.includes('boolean')) return 'true or false';
  return maxLength === undefined ? undefined : `at most ${maxLength} characters`;
}
