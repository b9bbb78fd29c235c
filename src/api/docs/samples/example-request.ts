import type { Access } from '../../core/endpoint-spec.ts';
import { isClientScope, isConsoleApiPath } from '../../core/endpoint-spec.ts';
import {
  typeAndSchemaOf,
  type DescribedOperation,
  type OpenApiDescription,
  type OpenApiParameter,
  resolveSchema,
  type OpenApiSchema,
  successResponseOf,
} from '../openapi-types-and-lookups.ts';
import { exampleValue } from './example-value.ts';

/** An endpoint with its entry in the OpenAPI document. */
export type ReferenceEntry = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly scope: Access;
  readonly described: DescribedOperation;
};

export type SampleCredential = 'key' | 'operator_key' | 'cookie' | 'none';

export type ExampleBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'file'; readonly type: string; readonly fileName: string };

/** A request that is sent as it stands, apart from placeholders in capitals. */
export type ExampleRequest = {
  readonly method: string;
  readonly baseUrl: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: SampleCredential;
  readonly body: ExampleBody | undefined;
  readonly answer: 'json' | 'text' | 'file';
};

const fileNames: Readonly<Record<string, string>> = { 'image/jpeg': 'boat.jpg', 'video/mp4': 'boat.mp4' };

export function exampleRequest(
  description: OpenApiDescription,
  entry: ReferenceEntry,
  baseUrl: string,
): ExampleRequest {
  const { described, method } = entry;
  const { parameters = [] } = described;
  const valueOf = ({ name, schema = {} }: OpenApiParameter) => String(exampleValue(description, schema, { name }));
  const path = entry.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(
      valueOf(parameters.find((one) => one.name === name) ?? { name, in: 'path', schema: { type: 'string' } }),
    ),
  );
  const query = parameters.filter((one) => one.in === 'query' && one.required === true);
  const search = new URLSearchParams(query.map((one): [string, string] => [one.name, valueOf(one)])).toString();
  const hasKey = parameters.some((one) => one.name === 'Idempotency-Key');
  return {
    method: method.toUpperCase(),
    baseUrl,
    path: search === '' ? path : `${path}?${search}`,
    headers: hasKey ? { 'Idempotency-Key': 'sample-1' } : {},
    credential: credentialOf(entry),
    body: exampleBody(description, described),
    answer: answerOf(description, described),
  };
}

function credentialOf({ scope, path }: ReferenceEntry): SampleCredential {
  if (scope === 'none') return 'none';
  if (isConsoleApiPath(path)) return 'cookie';
  return isClientScope(scope) ? 'key' : 'operator_key';
}

function exampleBody(description: OpenApiDescription, { requestBody }: DescribedOperation): ExampleBody | undefined {
  const found = typeAndSchemaOf(requestBody?.content);
  if (found === undefined) return undefined;
  const [type, schema] = found;
  if (type.includes('json'))
    return { kind: 'json', value: { ...objectExample(description, schema), ...taskFields(description, schema) } };
  return { kind: 'file', type, fileName: fileNames[type] ?? 'file' };
}

function objectExample(description: OpenApiDescription, schema: OpenApiSchema): object {
  const value = exampleValue(description, schema);
  return typeof value === 'object' && value !== null ? value : {};
}

/** Creates of other APIs get a model of this installation and a prompt, which their schemas leave open. */
function taskFields(description: OpenApiDescription, schema: OpenApiSchema): object {
  const { properties = {} } = resolveSchema(description, schema).schema;
  const own = description.components?.schemas?.['TaskRequest'];
  const isCreate = properties['model'] !== undefined && (properties['prompt'] ?? properties['content']) !== undefined;
  if (own === undefined || !isCreate) return {};
  // The schema of our own create has this example.
  const { model, input } = own.example as { readonly model: string; readonly input: { readonly prompt: string } };
  const known = Object.entries({ model, prompt: input.prompt }).filter(([name]) => properties[name] !== undefined);
  return Object.fromEntries(known);
}

function answerOf(description: OpenApiDescription, described: DescribedOperation): 'json' | 'text' | 'file' {
  const { type = '' } = successResponseOf(description, described) ?? {};
  if (type.includes('json')) return 'json';
  return type.startsWith('text/') ? 'text' : 'file';
}
