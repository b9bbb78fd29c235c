import {
  answerOf,
  bodyOf,
  byPath,
  type Description,
  errorCodesOf,
  type Operation,
  operationsOf,
  queryOf,
  typeOf,
} from './contract-source.ts';

const heading = `// Written by "npm run openapi" from openapi.json; do not edit. What the console reads and sends, by path.`;

/** The console calls no other dialects, no probes, and no endpoint whose response has no envelope. */
const left = /^\/(?:healthz|readyz|openapi\.json|api\/v1\/(?:chat|common)\/)/;

/** The types of every operation for `src/console`: all named schemas, then each path with its query or body and its answer. */
export function consoleContractSource(description: Description): string {
  const { schemas } = description.components;
  const operations = operationsOf(description).filter(({ path }) => !left.test(path));
  const reads = operations.filter(({ method, operation }) => method === 'get' && hasAnswer(operation));
  const sends = operations.filter(({ method, operation }) => method === 'post' && hasAnswer(operation));
  const types = [
    typeOf('ErrorCode', { type: 'string', enum: errorCodesOf(description) }),
    ...Object.entries(schemas).map(([name, schema]) => typeOf(name, schema)),
    typeOf(
      'Reads',
      byPath(reads, (operation) => ({ query: queryOf(operation), answer: answerOf(operation) })),
    ),
    typeOf(
      'Sends',
      byPath(sends, (operation) => ({ body: bodyOf(operation), answer: answerOf(operation) })),
    ),
  ];
  return `${[heading, ...types].join('\n\n')}\n`;
}

function hasAnswer({ responses }: Operation): boolean {
  return responses['200']?.content?.['application/json']?.schema.properties?.['data'] !== undefined;
}
