import { type OpenApiDescription, resolveSchema, type OpenApiSchema } from '../openapi-types-and-lookups.ts';

const exampleTime = 1_764_115_200_000;
const byFormat: Readonly<Record<string, string>> = {
  uuid: '01a1fe3b-2c75-7579-b94f-4d7024d5882f',
  uri: 'https://example.com/file',
  email: 'ada@example.com',
  date: '2025-11-26',
  'date-time': '2025-11-26T00:00:00Z',
};
const maxDepth = 8;

/** A value that fits the schema. `isWhole` also fills in optional fields. */
export function exampleValue(
  description: OpenApiDescription,
  schema: OpenApiSchema,
  { name = 'value', isWhole = false, depth = 0 } = {},
): unknown {
  const { schema: found, alternatives } = resolveSchema(description, schema);
  const given = found.example === undefined ? (found.examples?.[0] ?? found.default) : found.example;
  if (given !== undefined) return given;
  const options = { name, isWhole, depth: depth + 1 };
  const [first] = alternatives;
  if (first !== undefined) return exampleValue(description, first, options);
  if (found.enum !== undefined) return found.enum.find((value) => value !== null);
  const type = [found.type ?? []].flat().find((one) => one !== 'null');
  if (type === 'array') return depth < maxDepth && found.items ? [exampleValue(description, found.items, options)] : [];
  if (type === 'object' || found.properties !== undefined) return objectOf(description, found, options);
  return plainExample(type, found, name);
}

function objectOf(
  description: OpenApiDescription,
  { properties = {}, required = [] }: OpenApiSchema,
  { isWhole, depth }: { readonly isWhole: boolean; readonly depth: number },
) {
  const shown = Object.entries(properties).filter(([name]) => isWhole || required.includes(name));
  if (depth > maxDepth) return {};
  return Object.fromEntries(
    shown.map(([name, inner]) => [name, exampleValue(description, inner, { name, isWhole, depth })]),
  );
}

function plainExample(type: string | undefined, schema: OpenApiSchema, name: string): unknown {
  const isTime = /(?:Time|Until|since|^from|^to)$/.test(name);
  if (type === 'boolean') return true;
  if (type === 'string') return byFormat[schema.format ?? ''] ?? textExample(name);
  if (type !== 'integer' && type !== 'number') return null;
  return isTime ? exampleTime : (schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1);
}

/** Other text is a placeholder in capitals, as in the guides. */
function textExample(name: string): string {
  if (name === 'id' || name.endsWith('Id')) return byFormat['uuid'] ?? '';
  if (/url$/i.test(name)) return byFormat['uri'] ?? '';
  return name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
}
