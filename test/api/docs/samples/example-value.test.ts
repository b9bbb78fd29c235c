import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenApiDescription, OpenApiSchema } from '../../../../src/api/docs/openapi-types-and-lookups.ts';
import { exampleValue } from '../../../../src/api/docs/samples/example-value.ts';

const description: OpenApiDescription = {
  info: {},
  components: {
    schemas: {
      Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } },
      List: { type: 'array', items: { $ref: '#/components/schemas/List' } },
    },
  },
};
const uuid = '01a1fe3b-2c75-7579-b94f-4d7024d5882f';
const url = 'https://example.com/file';
const time = 1_764_115_200_000;

for (const [schema, name, expected] of [
  [{ type: 'string' }, undefined, 'VALUE'],
  [{ type: 'string' }, 'callBackName', 'CALL_BACK_NAME'],
  [{ type: 'string' }, 'fromTime', 'FROM_TIME'],
  [{ type: 'string' }, 'id', uuid],
  [{ type: 'string' }, 'taskId', uuid],
  [{ type: 'string' }, 'idle', 'IDLE'],
  [{ type: 'string' }, 'imageUrl', url],
  [{ type: 'string' }, 'url', url],
  [{ type: 'string', format: 'uuid' }, undefined, uuid],
  [{ type: 'string', format: 'uri' }, undefined, url],
  [{ type: 'string', format: 'email' }, undefined, 'ada@example.com'],
  [{ type: 'string', format: 'date' }, undefined, '2025-11-26'],
  [{ type: 'string', format: 'date-time' }, undefined, '2025-11-26T00:00:00Z'],
  [{ type: 'boolean' }, undefined, true],
  [{ type: 'integer' }, undefined, 1],
  [{ type: 'integer', minimum: 0 }, undefined, 0],
  [{ type: 'number', exclusiveMinimum: 4 }, undefined, 5],
  [{ type: 'integer', minimum: 0 }, 'from', time],
  [{ type: 'integer' }, 'to', time],
  [{ type: 'integer' }, 'since', time],
  [{ type: 'integer' }, 'validUntil', time],
  [{ type: 'number' }, 'createTime', time],
  [{ type: 'integer' }, 'total', 1],
  [{ type: ['null', 'integer'], minimum: 3 }, undefined, 3],
  [{ type: 'null' }, undefined, null],
  [{}, undefined, null],
  [{ enum: [null, 'b'] }, undefined, 'b'],
  [{ type: 'string', example: 'x', examples: ['y'], default: 'z' }, undefined, 'x'],
  [{ type: 'string', examples: ['y'], default: 'z' }, undefined, 'y'],
  [{ type: 'string', default: 'z' }, undefined, 'z'],
  [{ anyOf: [{ type: 'null' }, { type: 'integer' }] }, undefined, 1],
  [{ oneOf: [{ type: 'boolean' }, { type: 'string' }] }, undefined, true],
  [{ type: 'array', items: { type: 'string' } }, 'names', ['NAMES']],
  [{ type: 'array' }, undefined, []],
] as readonly (readonly [schema: OpenApiSchema, name: string | undefined, expected: unknown])[]) {
  test(`an example of ${JSON.stringify(schema)}${name === undefined ? '' : ` with the name ${name}`}`, () =>
    assert.deepEqual(exampleValue(description, schema, name === undefined ? {} : { name }), expected));
}

test('an object has its required fields, or all if it is to be whole', () => {
  const schema = {
    required: ['inner'],
    properties: {
      inner: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'boolean' } } },
      other: { type: 'array', items: { properties: { c: { type: 'boolean' } } } },
    },
  };
  assert.deepEqual(exampleValue(description, schema), { inner: { a: 'A' } });
  assert.deepEqual(exampleValue(description, schema, { isWhole: true }), {
    inner: { a: 'A', b: true },
    other: [{ c: true }],
  });
  assert.deepEqual(exampleValue(description, { type: 'object' }), {});
});

test('schemas that refer to themselves end after eight levels', () => {
  const node = exampleValue(description, { $ref: '#/components/schemas/Node' }, { isWhole: true });
  assert.equal(JSON.stringify(node), `${'{"next":'.repeat(8)}{}${'}'.repeat(8)}`);
  const list = exampleValue(description, { $ref: '#/components/schemas/List' });
  assert.equal(JSON.stringify(list), `${'['.repeat(9)}${']'.repeat(9)}`);
});
