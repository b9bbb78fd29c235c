import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DescribedOperation, OpenApiDescription } from '../../../../src/api/docs/openapi-types-and-lookups.ts';
import { exampleRequest, type ReferenceEntry } from '../../../../src/api/docs/samples/example-request.ts';

const example = { model: 'film', input: { prompt: 'A boat' } };
const description: OpenApiDescription = { info: {}, components: { schemas: { TaskRequest: { example } } } };
const baseUrl = 'https://video.example';

function requestOf(described: DescribedOperation, entry: Partial<ReferenceEntry> = {}, of = description) {
  return exampleRequest(
    of,
    { operationId: 'one', method: 'post', path: '/v1/videos', scope: 'tasks:write', described, ...entry },
    baseUrl,
  );
}

const content = (type: string, schema = {}) => ({ content: { [type]: { schema } } });

test('a request has its path, its required parameters, its key and its body', () => {
  const described = {
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'string', example: 'a b' } },
      { name: 'limit', in: 'query', required: true, schema: { type: 'integer', minimum: 7 } },
      { name: 'name', in: 'query', required: true, schema: { type: 'string' } },
      { name: 'cursor', in: 'query', schema: { type: 'string' } },
      { name: 'Other', in: 'header', required: true, schema: { type: 'string' } },
      { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } },
    ],
    requestBody: content('application/json', { properties: { size: { type: 'string' } }, required: ['size'] }),
    responses: { 200: content('application/json') },
  };
  assert.deepEqual(requestOf(described, { path: '/v1/videos/{id}/{part}' }), {
    method: 'POST',
    baseUrl,
    path: '/v1/videos/a%20b/PART?limit=7&name=NAME',
    headers: { 'Idempotency-Key': 'sample-1' },
    credential: 'key',
    body: { kind: 'json', value: { size: 'SIZE' } },
    answer: 'json',
  });
  const none = { baseUrl, path: '/v1/videos', headers: {}, credential: 'key', body: undefined, answer: 'file' };
  assert.deepEqual(requestOf({}, { method: 'get' }), { ...none, method: 'GET' });
});

for (const [fields, value] of [
  [['model', 'prompt'], { model: 'film', prompt: 'A boat' }],
  [['model', 'content'], { model: 'film' }],
  [['prompt', 'content'], {}],
  [['model', 'size'], {}],
] as const) {
  test(`a create of another API with ${fields.join(' and ')} gets a model and a prompt of this installation`, () => {
    const schema = { type: 'object', properties: Object.fromEntries(fields.map((name) => [name, {}])) };
    const described = { requestBody: content('application/json', schema) };
    assert.deepEqual(requestOf(described).body, { kind: 'json', value });
    assert.deepEqual(requestOf(described, {}, { info: {} }).body, { kind: 'json', value: {} });
  });
}

test('a body that is no object has no example', () => {
  const schema = { type: 'string' };
  assert.deepEqual(requestOf({ requestBody: content('application/json', schema) }).body, { kind: 'json', value: {} });
});

for (const [type, fileName] of [
  ['image/jpeg', 'boat.jpg'],
  ['video/mp4', 'boat.mp4'],
  ['audio/wav', 'file'],
] as const) {
  test(`a body of the type ${type} is a file`, () =>
    assert.deepEqual(requestOf({ requestBody: content(type) }).body, { kind: 'file', type, fileName }));
}

for (const [scope, path, credential] of [
  ['none', '/healthz', 'none'],
  ['none', '/api/console/v1/signIn', 'none'],
  ['session', '/api/console/v1/sessions', 'cookie'],
  ['owner', '/api/console/v1/members', 'cookie'],
  ['tasks:read', '/api/v1/jobs/recordInfo', 'key'],
  ['any', '/api/v1/models', 'key'],
  ['operator', '/api/admin/v1/accounts', 'operator_key'],
] as const) {
  test(`${path} with the scope ${scope} needs the credential ${credential}`, () =>
    assert.equal(requestOf({}, { scope, path }).credential, credential));
}

for (const [type, answer] of [
  ['application/problem+json', 'json'],
  ['text/csv', 'text'],
  ['video/mp4', 'file'],
] as const) {
  test(`a response of the type ${type} is read as ${answer}`, () =>
    assert.equal(requestOf({ responses: { 200: content(type) } }).answer, answer));
}
