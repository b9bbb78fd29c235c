import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { productName } from '../platform/brand/brand.ts';
import type { WithModels } from '../catalogue/models/model-type-and-name-lookup.ts';
import { documentedTaskRequestSchema } from '../tasks/accept/documented-task-request.ts';
import { endpoints, sections } from './endpoints.ts';
import {
  type Access,
  failuresOfEveryRequest,
  isClientScope,
  type Operation,
  type ErrorShape,
} from './core/endpoint-spec.ts';
import { errorCatalogue, type ErrorCode } from './core/error-catalogue.ts';

/** Makes the document from the schemas that the routes validate with. */
export function openApiDocument(offer: WithModels, name = productName) {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key, `vg_…`. Every invalid key gets the same 401.',
  });
  registry.registerComponent('securitySchemes', 'operatorKey', {
    type: 'http',
    scheme: 'bearer',
    description: "An operator's key, `vgop_…`. It opens only the operators' endpoints.",
  });
  registry.registerComponent('headers', requestId, {
    description: "Identifies this request in the service's log.",
    schema: { type: 'string' },
  });
  for (const section of sections) {
    for (const operation of section.endpoints) registry.registerPath(routeOf(operation, section.tag, offer));
  }
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: name,
      version: 'v1',
      description: introduction,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: sections.map(({ tag, description }) => ({ name: tag, description })),
  });
  shareRefusals(document);
  return document;
}

type Document = ReturnType<OpenApiGeneratorV31['generateDocument']>;
type Responses = NonNullable<NonNullable<Document['components']>['responses']>;

const introduction = `Video generation by asynchronous, paid tasks.

Every response is an envelope \`{code, msg, data}\`, in which \`code\` equals the HTTP status. Errors add \`error\`, a stable string to
branch on. The header \`X-Request-Id\` identifies the request in the service's log. A request that fails has changed and charged nothing,
unless its description states otherwise.

[Use the API](/docs/api) is the guide from a key to a video.

Keys of the [dialect \`kie\`](/docs/dialect-kie) use the spelling of that API; the header \`Videogen-Dialect: native\` selects the one
described here.`;

function routeOf(operation: Operation, tag: string, offer: WithModels): RouteConfig {
  const { operationId, method, path, summary, description, scope, query, headers, body } = operation;
  const createsTask = operation.createsTask === true && operation.shape === undefined;
  const { takesTaskRequest = createsTask } = operation;
  const schema = takesTaskRequest ? documentedTaskRequestSchema(offer) : body;
  const params = paramsOf(path);
  const file = operation.fileTypes?.map((type) => [type, { schema: fileSchema }] as const);
  return {
    operationId,
    method,
    path,
    tags: [tag],
    summary,
    ...describe(description, scope),
    security: scope === 'none' ? [] : [scope === 'operator' ? { operatorKey: [] } : { apiKey: [] }],
    request: {
      ...(query !== undefined && { query }),
      ...(headers !== undefined && { headers }),
      ...(params !== undefined && { params }),
      ...(schema !== undefined && {
        body: {
          required: true,
          content: operation.takesInlineFiles === true ? { ...json(schema), ...form(schema) } : json(schema),
        },
      }),
      ...(file !== undefined && { body: { required: true, content: Object.fromEntries(file) } }),
    },
    responses: {
      [operation.status ?? 200]: success(operation),
      ...(operation.sendsFile !== undefined && fileResponses(operation.sendsFile)),
      ...Object.fromEntries(
        failuresByStatus(operation).map(([status, group]) => [status, refusal(status, group, operation.shape)]),
      ),
    },
    ...(createsTask && { callbacks }),
  };
}

const fileSchema = { type: 'string', format: 'binary' } as const;

function fileResponses(types: readonly string[]) {
  const content = Object.fromEntries(types.map((type) => [type, { schema: fileSchema }]));
  const described = {
    'Accept-Ranges': '`bytes`.',
    'Content-Disposition': 'A name for the file.',
    ETag: '`If-None-Match` and `If-Match` take it; a file in a bucket has none.',
    'Last-Modified': 'A file in a bucket has none.',
  };
  const range = { ...described, 'Content-Range': 'The range, and the size of the file.' };
  return {
    200: { description: 'The file', headers: headersOf(described), content },
    206: { description: 'The requested range', headers: headersOf(range), content },
    302: { description: 'A redirect to the file', headers: headersOf({ Location: 'The signed link.' }) },
    304: { description: 'Not changed since the `ETag` of `If-None-Match`', headers: headersOf(described) },
  };
}

function describe(description: string | undefined, scope: Access): { description?: string } {
  const needed = isClientScope(scope) && scope !== 'any' ? `Requires the scope \`${scope}\`.` : '';
  const text = [description, needed].filter(Boolean).join('\n\n');
  return text === '' ? {} : { description: text };
}

function json(schema: z.ZodType, examples?: Readonly<Record<string, { readonly value: unknown }>>) {
  return { 'application/json': { schema, ...(examples !== undefined && { examples }) } };
}

function form(schema: z.ZodType) {
  return { 'multipart/form-data': { schema } };
}

function paramsOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, z.string()] as const);
  return names.length === 0 ? undefined : z.object(Object.fromEntries(names));
}

function success({ data, answerHeaders = {}, contentType, shape }: Operation) {
  const text = contentType === undefined ? undefined : { [contentType]: { schema: { type: 'string' as const } } };
  return {
    description: 'Success',
    headers: headersOf(answerHeaders),
    content:
      text ??
      json(shape === undefined ? z.strictObject({ code: z.literal(200), msg: z.literal('success'), data }) : data),
  };
}

function failuresByStatus(operation: Operation): readonly (readonly [status: number, group: readonly ErrorCode[]])[] {
  const all = [...new Set([...operation.failures, ...failuresOfEveryRequest])];
  const statuses = [...new Set(all.map((failure) => errorCatalogue[failure].status))];
  return statuses.map((status) => [status, all.filter((failure) => errorCatalogue[failure].status === status)]);
}

/** Operations share errors, so each response is a component named after its error codes. */
function shareRefusals(document: Document): void {
  const responses: Responses = {};
  for (const operation of endpoints) {
    const written: Responses = document.paths?.[operation.path]?.[operation.method]?.responses ?? {};
    for (const [status, group] of failuresByStatus(operation)) {
      const name = [operation.shape?.name ?? [], group].flat().join('.');
      const inFull = written[status];
      if (inFull !== undefined) responses[name] = inFull;
      written[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components = { ...document.components, responses };
}

/** Errors that the server returns before it has read the path. */
const beforePath: readonly ErrorCode[] = ['malformed_request', 'request_timeout', 'headers_too_large'];

function refusal(status: number, group: readonly ErrorCode[], shape: ErrorShape | undefined) {
  const known = group.map((failure) => errorCatalogue[failure]);
  const [first = z.strictObject({}), ...others] = new Set(known.map(({ data }) => data));
  const data = others.length === 0 ? first : z.union([first, ...others]);
  const error = z.enum(group).meta({ description: 'Stable; `msg` may change.' });
  const fixed = known.flatMap(({ headers }) => Object.entries(headers));
  const suchAs = Object.fromEntries(fixed.map(([name, value]) => [name, `Example: \`${value}\`.`]));
  const added = Object.fromEntries(known.flatMap(({ addedHeaders }) => Object.entries(addedHeaders)));
  const envelope = z.strictObject({ code: z.literal(status), msg: z.string(), error, data });
  const isEarly = group.some((failure) => beforePath.includes(failure));
  // Nothing but our own envelope is possible before the path is read.
  const content =
    shape === undefined
      ? json(envelope, examplesOf(group))
      : json(isEarly ? z.union([shape.errorSchema, envelope]) : shape.errorSchema);
  return {
    description: group.map((failure) => `${errorCatalogue[failure].msg} (${failure})`).join('; '),
    headers: headersOf({ ...suchAs, ...added }),
    content,
  };
}

/** Makes examples of the errors whose `data` is empty. */
function examplesOf(group: readonly ErrorCode[]) {
  const plain = group.filter((failure) => Object.keys(errorCatalogue[failure].data.shape).length === 0);
  if (plain.length === 0) return undefined;
  const examples = plain.map((failure) => {
    const { status: code, msg } = errorCatalogue[failure];
    return [failure, { value: { code, msg, error: failure, data: {} } }] as const;
  });
  return Object.fromEntries(examples);
}

const requestId = 'X-Request-Id';

function headersOf(described: Readonly<Record<string, string>>) {
  const schema = { type: 'string' as const };
  const others = Object.entries(described).map(([name, description]) => [name, { description, schema }] as const);
  return { [requestId]: { $ref: `#/components/headers/${requestId}` }, ...Object.fromEntries(others) };
}

const callbacks: NonNullable<RouteConfig['callbacks']> = {
  taskEnded: {
    '{$request.body#/callBackUrl}': {
      post: {
        operationId: 'taskEnded',
        summary: 'Receive the end of a task',
        description:
          'Sends the record, signed as a Standard Webhook. Any 2xx within 15 seconds acknowledges it, 410 stops the delivery, and anything ' +
          'else is retried for about three days.',
        security: [],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  code: { type: 'number', enum: [200] },
                  msg: { type: 'string', enum: ['success'] },
                  data: { $ref: '#/components/schemas/TaskRecord' },
                },
                required: ['code', 'msg', 'data'],
              },
            },
          },
        },
        responses: {
          '2XX': { description: 'The callback was received.' },
          '410': { description: 'No more callbacks are sent for this task.' },
        },
      },
    },
  },
};
