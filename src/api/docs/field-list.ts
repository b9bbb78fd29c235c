import {
  type OpenApiDescription,
  type OpenApiParameter,
  resolveSchema,
  type OpenApiSchema,
} from './openapi-types-and-lookups.ts';
import { type Html, html } from './html.ts';
import { inlineMarkdown } from './markdown.ts';

const maxDepth = 7;
/** Longer lists of allowed values are in the OpenAPI document. */
const maxValues = 40;

type Options = {
  /** The number of levels that are open. */
  readonly open: number;
  readonly depth?: number;
  /** Responses always have their required fields, so only requests are marked. */
  readonly marksRequired: boolean;
};

export function parameterListHtml(description: OpenApiDescription, parameters: readonly OpenApiParameter[]): Html {
  const items = parameters.map(({ name, required: isRequired = false, schema = {}, description: text }) => {
    const described = text === undefined ? schema : { ...schema, description: text };
    return field(description, { name, isRequired, schema: described }, { open: 1, marksRequired: true });
  });
  return html`<ul class="fields">
    ${items}
  </ul>`;
}

/** The fields of an object, of the items of a list, or of each alternative; undefined if there are none. */
export function schemaFieldListHtml(
  description: OpenApiDescription,
  schema: OpenApiSchema,
  options: Options,
): Html | undefined {
  const { depth = 0 } = options;
  if (depth > maxDepth) return undefined;
  const { schema: found, alternatives } = resolveSchema(description, schema);
  if (alternatives.length > 0) return alternativeFields(description, alternatives, options);
  if (found.items !== undefined) return schemaFieldListHtml(description, found.items, options);
  const { additionalProperties: others } = found;
  const entries = Object.entries(found.properties ?? {});
  const isMap = typeof others === 'object' && Object.keys(others).length > 0;
  if (entries.length === 0 && !isMap) return undefined;
  const items = entries.map(([name, inner]) => {
    const isRequired = found.required?.includes(name) ?? false;
    return field(description, { name, isRequired, schema: inner }, options);
  });
  const rest = isMap && field(description, { name: 'any name', isRequired: false, schema: others }, options);
  return html`<ul class="fields">
    ${items}${rest}
  </ul>`;
}

function alternativeFields(
  description: OpenApiDescription,
  alternatives: readonly OpenApiSchema[],
  options: Options,
): Html | undefined {
  const items = alternatives.flatMap((one, index) => {
    const inner = schemaFieldListHtml(description, one, options);
    if (inner === undefined) return [];
    const { name = `Alternative ${index + 1}` } = resolveSchema(description, one);
    return [
      html`<details class="nested" ${index === 0 && options.open > 0 && 'open'}>
        <summary>${name}</summary>
        ${inner}
      </details>`,
    ];
  });
  return items.length === 0
    ? undefined
    : html`<div class="alternatives">
        <p>One of:</p>
        ${items}
      </div>`;
}

type Field = { readonly name: string; readonly isRequired: boolean; readonly schema: OpenApiSchema };

function field(description: OpenApiDescription, { name, isRequired, schema }: Field, options: Options): Html {
  const { open, depth = 0, marksRequired } = options;
  const { schema: found } = resolveSchema(description, schema);
  const inner = schemaFieldListHtml(description, schema, { ...options, open: open - 1, depth: depth + 1 });
  const label = marksRequired && isRequired && html` <span class="required">required</span>`;
  return html`<li>
    <p class="head">
      <code class="name">${name}</code> <span class="type">${typeLabel(description, schema)}</span>${label}
    </p>
    ${found.description !== undefined && html`<p>${inlineMarkdown(found.description)}</p>`} ${constraints(found)}
    ${
      inner &&
      html`<details class="nested" ${open > 0 && 'open'}>
        <summary>Fields of ${name}</summary>
        ${inner}
      </details>`
    }
  </li>`;
}

function typeLabel(description: OpenApiDescription, schema: OpenApiSchema): string {
  const { schema: found, name, isNullable, alternatives } = resolveSchema(description, schema);
  const suffix = isNullable ? ' or null' : '';
  if (alternatives.length > 0) {
    const labels = [...new Set(alternatives.map((one) => typeLabel(description, one)))];
    return labels.join(' or ') + suffix;
  }
  const types = [found.type ?? (found.properties === undefined ? 'any value' : 'object')].flat();
  const [type = 'any value'] = types.filter((one) => one !== 'null');
  if (type === 'array')
    return `array of ${found.items === undefined ? 'values' : typeLabel(description, found.items)}${suffix}`;
  const detail = found.format === undefined || found.format === 'uri' ? '' : `, ${found.format}`;
  return `${type === 'object' && name !== undefined ? name : type}${detail}${found.format === 'uri' ? ', URL' : ''}${suffix}`;
}

function constraints(schema: OpenApiSchema): Html | undefined {
  const values = (schema.enum ?? []).filter((value) => value !== null);
  const parts = [
    values.length > 0 &&
      html`${values.length === 1 ? 'Value' : 'Values'}:
      ${values.slice(0, maxValues).map((value, index) => html`${index > 0 && ', '}<code>${shown(value)}</code>`)}${values.length > maxValues && ', …'}.`,
    ...ranges(schema).map((text) => html`${text}.`),
    schema.default !== undefined && html`Default: <code>${shown(schema.default)}</code>.`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return undefined;
  return html`<p class="limits">${parts.map((part) => html`${part} `)}</p>`;
}

function ranges(schema: OpenApiSchema): readonly string[] {
  const { minLength, maxLength, minItems, maxItems } = schema;
  const least = schema.minimum ?? schema.exclusiveMinimum;
  // The generator adds the largest safe integer to every integer that has no other limit.
  const most = [schema.maximum ?? schema.exclusiveMaximum].find((limit) => limit !== Number.MAX_SAFE_INTEGER);
  const above = schema.minimum === undefined && least !== undefined ? 'More than' : 'At least';
  const below = schema.maximum === undefined && most !== undefined ? 'less than' : 'at most';
  const count = (min: number | undefined, max: number | undefined, unit: string) =>
    range([min !== undefined && min > 1 ? min : undefined, 'At least'], [max, 'at most'], unit);
  return [
    range([least, above], [most, below], ''),
    count(minLength, maxLength, ' characters'),
    count(minItems, maxItems, ' items'),
  ].filter((text) => text !== '');
}

type Limit = readonly [value: number | undefined, word: string];

function range([least, above]: Limit, [most, below]: Limit, unit: string): string {
  const parts = [
    ...(least === undefined ? [] : [`${above} ${number(least)}`]),
    ...(most === undefined ? [] : [`${below} ${number(most)}`]),
  ];
  const text = parts.join(', ');
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${unit}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
