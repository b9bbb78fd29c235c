import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { consoleContractSource } from '../../clients/console-contract.ts';
import { contractSource } from '../../clients/client-contract.ts';
import type { Description, Schema } from '../../clients/contract-source.ts';

// Tests run in the root of the project.
const description = JSON.parse(readFileSync('openapi.json', 'utf8')) as Description; // our own generator wrote it

test('the Python client lists tasks by every parameter of the API', () => {
  const client = readFileSync('clients/python/src/videogen_gateway/_async/client.py', 'utf8');
  const [, signature = '', body = ''] = /def list_tasks\(([^)]*)\)(.*?)while True:/s.exec(client) ?? [];
  const taken = [...signature.matchAll(/^ +(\w+):/gm)].map(([, name = '']) => name);
  const sent = [...body.matchAll(/"(\w+)": (\w+)/g)].map(([, name = '', value = '']) => ({ name, value }));
  const parameters = description.paths['/api/v1/jobs/listTasks']?.['get']?.parameters ?? [];
  assert.deepEqual(
    [...sent.map(({ name }) => name), 'cursor'].toSorted(),
    parameters.map(({ name }) => name).toSorted(),
    'the client sets the cursor; add other parameters to list_tasks, and run clients/python/generate.py',
  );
  assert.deepEqual(sent.map(({ value }) => value).toSorted(), taken.toSorted());
});

test('a type that has no counterpart yet is not passed over', () => {
  const schemas = { ...description.components.schemas, Limits: { type: 'tuple' } };
  assert.throws(() => contractSource({ ...description, components: { ...description.components, schemas } }), /tuple/);
});

test('a named type that may be null keeps its null, as a whole answer and as a part of one', () => {
  const endpoint = { anyOf: [{ $ref: '#/components/schemas/EventEndpoint' }, { type: 'null' }] };
  const source = consoleContractSource(describing(endpoint));
  assert.match(source, /"\/api\/v1\/whole": \{[^}]*\};\s*readonly answer: EventEndpoint \| null;/);
  assert.match(source, /readonly part: EventEndpoint \| null;/);
  assert.doesNotMatch(source, /export type EventEndpoint = [^;]*\} \| null/);
  const both = { allOf: [{ $ref: '#/components/schemas/EventEndpoint' }, { type: ['object', 'null'] }] };
  assert.throws(() => consoleContractSource(describing(both)), /allOf/);
});

/** Two paths whose answer is this schema, and has it as its part. */
function describing(schema: Schema): Description {
  const answering = (operationId: string, data: Schema) => ({
    get: {
      operationId,
      responses: { 200: { content: { 'application/json': { schema: { type: 'object', properties: { data } } } } } },
    },
  });
  const part = { type: 'object', properties: { part: schema }, required: ['part'] };
  return {
    ...description,
    paths: { '/api/v1/whole': answering('whole', schema), '/api/v1/part': answering('part', part) },
  };
}
