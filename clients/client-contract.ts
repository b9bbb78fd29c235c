import {
  answerOf,
  bodyOf,
  byPath,
  type Description,
  errorCodesOf,
  found,
  type Located,
  type Operation,
  operationsOf,
  queryOf,
  type Schema,
  typeOf,
  usedSchemas,
} from './contract-source.ts';

const heading = `// Written by the build from openapi.json; do not edit. The types of the service's own requests and answers.`;

/**
 * The operations that the client calls, with names for the types that have none
 * in the description.
 */
const called: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createTask: {},
  priceTask: {},
  uploadMedia: {},
  recordInfo: {},
  getTaskTimeline: {},
  cancelTask: {},
  deleteTask: {},
  listTasks: { query: 'TaskQuery', answer: 'TaskPage' },
  getCredits: { query: 'LedgerQuery', answer: 'Credits' },
  listCallbacks: { query: 'CallbackQuery', answer: 'CallbackPage' },
  listModels: { answer: 'Catalogue' },
  listKeys: { answer: 'Keys' },
  createKey: { body: 'KeyRequest' },
  revokeKey: { answer: 'RevokedKey' },
};

type Parts = Readonly<Record<string, Schema>>;

/**
 * Returns the client's types as TypeScript, made from the OpenAPI description:
 * every schema that its operations use, and each path with its query or body
 * and its answer. Throws for a kind of schema that it does not support.
 */
export function contractSource(description: Description): string {
  const all = operationsOf(description);
  const operations = Object.keys(called).map((id) =>
    found(
      all.find(({ operation }) => operation.operationId === id),
      id,
    ),
  );
  const reads = operations.filter(({ method }) => method === 'get');
  const sends = operations.filter(({ method }) => method === 'post');
  const readParts = (operation: Operation) => ({ query: queryOf(operation), answer: answerOf(operation) });
  const sendParts = (operation: Operation) => ({ body: bodyOf(operation), answer: answerOf(operation) });
  const named = [
    ...reads.flatMap(({ operation }) => namedParts(operation, readParts(operation))),
    ...sends.flatMap(({ operation }) => namedParts(operation, sendParts(operation))),
  ];
  const maps = {
    Reads: byPath(reads, (operation) => byName(operation, readParts(operation))),
    Sends: byPath(sends, (operation) => byName(operation, sendParts(operation))),
  };
  const types = [
    typeOf('ErrorCode', { type: 'string', enum: errorCodesOf(description) }),
    ...usedSchemas(description, [maps, named]).map(([name, schema]) => typeOf(name, schema)),
    ...named.map(([name, schema]) => typeOf(name, schema)),
    typeOf('MediaType', { type: 'string', enum: operations.flatMap(mediaTypesOf) }),
    ...Object.entries(maps).map(([name, schema]) => typeOf(name, schema)),
  ];
  return `${[heading, ...types].join('\n\n')}\n`;
}

function nameOf({ operationId }: Operation, part: string): string | undefined {
  return called[operationId]?.[part];
}

function namedParts(operation: Operation, parts: Parts): readonly (readonly [string, Schema])[] {
  return Object.entries(parts).flatMap(([part, schema]) => {
    const name = nameOf(operation, part);
    return name === undefined ? [] : [[name, schema] as const];
  });
}

function byName(operation: Operation, parts: Parts): Parts {
  const referred = Object.entries(parts).map(([part, schema]): [string, Schema] => {
    const name = nameOf(operation, part);
    return [part, name === undefined ? schema : { $ref: name }];
  });
  return Object.fromEntries(referred);
}

/** Returns the media types of the files that an operation takes. */
function mediaTypesOf({ operation: { requestBody } }: Located): readonly string[] {
  return Object.keys(requestBody?.content ?? {}).filter((type) => type !== 'application/json');
}
