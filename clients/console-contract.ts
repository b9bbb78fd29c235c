import {
  answerOf,
  bodyOf,
  byPath,
  type Description,
  type Operation,
  operationsOf,
  queryOf,
  typeOf,
  usedSchemas,
} from './contract-source.ts';

const heading = `// Written by the build from openapi.json; do not edit. What the console reads and sends, by path.`;

/**
 * The console calls no endpoint of another dialect, no probe, no webhook, and
 * none whose response has no envelope.
 */
const left = /^\/(?:healthz|readyz|openapi\.json|hooks\/|v1\/|api\/v3\/|api\/v1\/(?:chat|common|videos)\b)/;

/**
 * Returns the types of every operation for `src/console`: every named schema
 * that they use, then each path with its query or body and its answer.
 */
export function consoleContractSource(description: Description): string {
  const operations = operationsOf(description).filter(({ path }) => !left.test(path));
  const reads = operations.filter(({ method, operation }) => method === 'get' && hasAnswer(operation));
  const sends = operations.filter(({ method, operation }) => method === 'post' && hasAnswer(operation));
  const maps = {
    Reads: byPath(reads, (operation) => ({ query: queryOf(operation), answer: answerOf(operation) })),
    Sends: byPath(sends, (operation) => ({ body: bodyOf(operation), answer: answerOf(operation) })),
  };
  const types = [
    ...usedSchemas(description, maps).map(([name, schema]) => typeOf(name, schema)),
    ...Object.entries(maps).map(([name, schema]) => typeOf(name, schema)),
  ];
  return `${[heading, ...types].join('\n\n')}\n`;
}

function hasAnswer({ responses }: Operation): boolean {
  return responses['200']?.content?.['application/json']?.schema.properties?.['data'] !== undefined;
}
