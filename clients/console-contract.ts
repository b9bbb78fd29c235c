import {
  answerOf,
  type Description,
  errorCodesOf,
  type Operation,
  queryOf,
  type Schema,
  typeOf,
} from './contract-source.ts';

const heading = `// Written by "npm run openapi" from openapi.json; do not edit. What the console reads and sends, by path.`;

/** The console calls no other dialects, no probes, and no endpoint whose response has no envelope. */
const left = /^\/(?:healthz|readyz|openapi\.json|api\/v1\/(?:chat|common)\/)/;

/** The types of every operation for `src/console`: all named schemas, then each path with its query or body and its answer. */
export function consoleContractSource(description: Description): string {
  const { schemas } = description.components;
  const operations = Object.entries(description.paths)
    .filter(([path]) => !left.test(path))
    .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
  const reads = operations.filter(({ method, operation }) => method === 'get' && hasAnswer(operation));
  const sends = operations.filter(({ method, operation }) => method === 'post' && hasAnswer(operation));
  const types = [
    typeOf('ErrorCode', { type: 'string', enum: errorCodesOf(description) }),
    ...Object.entries(schemas).map(([name, schema]) => typeOf(name, schema)),
    typeOf(
      'Reads',
      byPath(reads, (operation) => ({ query: queryOf(operation), answer: nativeAnswerOf(operation) })),
    ),
    typeOf(
      'Sends',
      byPath(sends, (operation) => ({ body: bodyOf(operation), answer: nativeAnswerOf(operation) })),
    ),
  ];
  return `${[heading, ...types].join('\n\n')}\n`;
}

type Located = { readonly path: string; readonly operation: Operation };

function byPath(operations: readonly Located[], parts: (operation: Operation) => Record<string, Schema>): Schema {
  const entries = operations.map(({ path, operation }): [string, Schema] => {
    const properties = parts(operation);
    return [`'${path}'`, { type: 'object', properties, required: Object.keys(properties) }];
  });
  return {
    type: 'object',
    properties: Object.fromEntries(entries),
    required: entries.map(([path]) => path),
  };
}

function hasAnswer({ responses }: Operation): boolean {
  return responses['200']?.content?.['application/json']?.schema.properties?.['data'] !== undefined;
}

/** The console uses the native dialect, whose schema is the one with a name. */
function nativeAnswerOf(operation: Operation): Schema {
  const answer = answerOf(operation);
  const named = answer.anyOf?.filter(({ $ref }) => $ref !== undefined) ?? [];
  return named.length === 0 ? answer : { anyOf: named };
}

function bodyOf({ requestBody }: Operation): Schema {
  return requestBody?.content?.['application/json']?.schema ?? { type: 'object' };
}
