import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DescribedOperation,
  typeAndSchemaOf,
  type OpenApiDescription,
  resolveResponse,
  resolveSchema,
  successResponseOf,
} from '../../../src/api/docs/openapi-types-and-lookups.ts';

const schema = { type: 'string', description: 'Of the component' };
const json = { content: { 'application/json': { schema } } };
const description: OpenApiDescription = {
  info: {},
  components: {
    schemas: { Named: schema, Plain: { type: 'boolean' }, Maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    responses: { Done: json },
  },
};
const resolved = { isNullable: false, alternatives: [] };
const named = { $ref: '#/components/schemas/Named' };

for (const [given, expected] of [
  [schema, { ...resolved, schema }],
  [named, { ...resolved, schema, name: 'Named' }],
  [
    { ...named, description: 'Of the field' },
    { ...resolved, schema: { ...schema, description: 'Of the field' }, name: 'Named' },
  ],
  [{ $ref: '#/components/schemas/Plain' }, { ...resolved, schema: { type: 'boolean' }, name: 'Plain' }],
  [{ type: ['string', 'null'] }, { ...resolved, schema: { type: ['string', 'null'] }, isNullable: true }],
  [{ anyOf: [named, { type: 'null' }] }, { ...resolved, schema, name: 'Named', isNullable: true }],
  [
    { oneOf: [named, { type: 'null' }], description: 'Of the choice' },
    { ...resolved, schema: { ...schema, description: 'Of the choice' }, name: 'Named', isNullable: true },
  ],
  [
    { anyOf: [{ $ref: '#/components/schemas/Maybe' }] },
    { ...resolved, schema: { type: 'integer' }, name: 'Maybe', isNullable: true },
  ],
  [
    { anyOf: [named, { type: 'boolean' }] },
    {
      schema: { anyOf: [named, { type: 'boolean' }] },
      isNullable: false,
      alternatives: [named, { type: 'boolean' }],
    },
  ],
] as const) {
  test(`what ${JSON.stringify(given)} stands for`, () => assert.deepEqual(resolveSchema(description, given), expected));
}

test('a schema that is not in the document is an error', () =>
  assert.throws(() => resolveSchema(description, { $ref: '#/components/schemas/None' }), /lacks the schema None/));

test('a response is its component, or itself', () => {
  assert.equal(resolveResponse(description, { $ref: '#/components/responses/Done' }), json);
  for (const itself of [json, { $ref: '#/components/responses/None' }])
    assert.equal(resolveResponse(description, itself), itself);
  assert.equal(resolveResponse({ info: {} }, json), json);
});

test('the type of a body is JSON where there is a choice', () => {
  assert.equal(typeAndSchemaOf(undefined), undefined);
  assert.deepEqual(typeAndSchemaOf({ 'text/csv': {} }), ['text/csv', {}]);
  assert.deepEqual(typeAndSchemaOf({ 'text/csv': {}, ...json.content }), ['application/json', schema]);
  assert.deepEqual(typeAndSchemaOf({ 'text/csv': {}, 'text/plain': {} }), ['text/csv', {}]);
});

test('a success is the first response with content that is no error', () => {
  const success = { status: '200', type: 'application/json', schema };
  assert.deepEqual(successResponseOf(description, { responses: { 200: json, 404: {} } }), success);
  assert.deepEqual(successResponseOf(description, { responses: { 302: json } }), { ...success, status: '302' });
  assert.deepEqual(successResponseOf(description, { responses: { 201: { $ref: '#/components/responses/Done' } } }), {
    ...success,
    status: '201',
  });
  const none: readonly DescribedOperation[] = [
    {},
    { responses: {} },
    { responses: { 404: json } },
    { responses: { 204: {} } },
    { responses: { 100: json } },
  ];
  for (const described of none) assert.equal(successResponseOf(description, described), undefined);
});
