import { isObject } from '../../platform/text/json.ts';

// The subset of JSON Schema that the function calls of OpenAI, Anthropic, Gemini, Grok and Kimi all accept: one `type`, `description`,
// `properties`, `required`, `items`, and `enum` of strings. Bounds and defaults are in words (docs/decisions/api.md has the sources).

export type JsonSchema = Readonly<Record<string, unknown>>;

export type ToolSchema = {
  readonly type: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, ToolSchema>>;
  readonly required?: readonly string[];
  readonly items?: ToolSchema;
  readonly enum?: readonly string[];
};

/** Writes a schema in the subset. Nothing of it is stricter than the original, whose rules the service applies. */
export function simplifyJsonSchema(schema: JsonSchema): ToolSchema {
  const variants = variantsOf(schema);
  const type = typeOf(variants);
  const description = words(schema, variants, type);
  const common = { type, ...(description !== '' && { description }) };
  const [first = schema] = variants;
  if (type === 'object') return { ...common, ...fieldsOf(first) };
  if (type === 'array')
    return { ...common, items: isObject(first['items']) ? simplifyJsonSchema(first['items']) : { type: 'string' } };
  const choices = variants.flatMap(choicesOf);
  return type === 'string' && variants.every((one) => choicesOf(one).length > 0)
    ? { ...common, enum: [...new Set(choices.map(String))] }
    : common;
}

/** The forms that a value may have, without null, which means the same as absence. */
function variantsOf(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf, oneOf, ...rest } = schema;
  const listed = [anyOf, oneOf].flatMap((forms) => (Array.isArray(forms) ? forms.filter(isObject) : []));
  if (listed.length === 0) return [rest];
  return listed.filter(({ type }) => type !== 'null').flatMap(variantsOf);
}

function typeOf(variants: readonly JsonSchema[]): string {
  const types = new Set(variants.flatMap(({ type, const: only }) => typesOf(type ?? typeof only)));
  const [only = 'string', ...others] = types;
  if (others.length === 0) return only;
  return [...types].every((type) => type === 'integer' || type === 'number') ? 'number' : 'string';
}

function typesOf(type: unknown): readonly string[] {
  const known = ['string', 'number', 'integer', 'boolean', 'array', 'object'];
  return [type].flat().filter((one): one is string => typeof one === 'string' && known.includes(one));
}

function fieldsOf({ properties, required }: JsonSchema) {
  const fields = Object.entries(isObject(properties) ? properties : {}).filter((pair) => isObject(pair[1]));
  return {
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, simplifyJsonSchema(isObject(field) ? field : {})]),
    ),
    ...(Array.isArray(required) && required.length > 0 && { required: required.map(String) }),
  };
}

function choicesOf(schema: JsonSchema): readonly unknown[] {
  if (schema['const'] !== undefined) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : [];
}

function words(schema: JsonSchema, variants: readonly JsonSchema[], type: string): string {
  const given = [schema['description'], ...variants.map((one) => one['description'])];
  const described = [...new Set(given.filter((one): one is string => typeof one === 'string'))];
  const bounds = variants.length === 1 ? boundsText(variants[0] ?? {}, type) : '';
  const all = described.join(' ').includes(bounds) ? described : [...described, bounds];
  const standard = schema['default'] ?? variants[0]?.['default'];
  const isStated = standard === undefined || /default/i.test(described.join(' ')) || isObject(standard);
  return [...all, isStated ? '' : `Default ${JSON.stringify(standard)}.`].filter(Boolean).join(' ');
}

/** `1 to 20.`, `One of 4, 5, 10.` or `At most 9.` */
export function boundsText(schema: JsonSchema, type: string): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    if (type === 'string') return '';
    return choices.length === 1 ? `Always ${String(choices[0])}.` : `One of ${choices.map(String).join(', ')}.`;
  }
  if (type === 'integer' || type === 'number') return rangeOf(schema);
  if (type === 'array') return between(schema['minItems'], schema['maxItems'], 'item');
  return schema['format'] === undefined ? between(undefined, schema['maxLength'], 'character') : '';
}

/** Numbers that are rounded have bounds between whole numbers. Bounds that stand for none are left out. */
function rangeOf({ minimum, maximum, exclusiveMaximum }: JsonSchema): string {
  const [min, max] = [wholeFrom(minimum), typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 0.5 : maximum];
  const isHuge = typeof max !== 'number' || Math.abs(max) >= 1_000_000_000;
  if (isHuge) return typeof min === 'number' && Math.abs(min) < 1_000_000_000 ? `At least ${min}.` : '';
  return min === undefined ? `At most ${max}.` : `${min} to ${max}.`;
}

function wholeFrom(minimum: unknown): number | undefined {
  return typeof minimum === 'number' ? Math.ceil(minimum) : undefined;
}

function between(min: unknown, max: unknown, unit: string): string {
  const [least, most] = [typeof min === 'number' ? min : 0, typeof max === 'number' ? max : undefined];
  if (most === undefined) return least > 0 ? `At least ${least} ${unit}s.` : '';
  return least > 0 ? `${least} to ${most} ${unit}s.` : `At most ${most} ${unit}${most === 1 ? '' : 's'}.`;
}
