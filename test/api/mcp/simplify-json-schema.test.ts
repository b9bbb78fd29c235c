import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsText, simplifyJsonSchema } from '../../../src/api/mcp/simplify-json-schema.ts';

for (const [type, schema, text] of [
  ['integer', { enum: [4, 5] }, 'One of 4, 5.'],
  ['boolean', { const: true }, 'Always true.'],
  ['string', { enum: ['a'], maxLength: 5 }, ''],
  ['integer', { minimum: 4, maximum: 15 }, '4 to 15.'],
  ['number', { minimum: 3.5, exclusiveMaximum: 15.5 }, '4 to 15.'],
  ['integer', { minimum: 1 }, 'At least 1.'],
  ['integer', { maximum: 9 }, 'At most 9.'],
  ['integer', { minimum: 0, maximum: 999_999_999 }, '0 to 999999999.'],
  ['integer', { minimum: 0, maximum: 1_000_000_000 }, 'At least 0.'],
  ['integer', { minimum: -1_000_000_000, maximum: 1_000_000_000 }, ''],
  ['array', { minItems: 1, maxItems: 9 }, '1 to 9 items.'],
  ['array', { minItems: 0, maxItems: 2 }, 'At most 2 items.'],
  ['array', { maxItems: 1 }, 'At most 1 item.'],
  ['array', { minItems: 2 }, 'At least 2 items.'],
  ['array', {}, ''],
  ['string', { maxLength: 5 }, 'At most 5 characters.'],
  ['string', { maxLength: 5, format: 'uri' }, ''],
] as const) {
  test(`the bounds of ${type} ${JSON.stringify(schema)} in words: ${text}`, () =>
    assert.equal(boundsText(schema, type), text));
}

for (const [schema, expected] of [
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string' }],
  [{ anyOf: [{ type: 'integer' }, { type: 'number' }] }, { type: 'number' }],
  [{ oneOf: [{ type: 'integer' }, { type: 'string', enum: ['x'] }] }, { type: 'string' }],
  [{ anyOf: [{ const: 'a' }, { enum: ['b', 'a'] }] }, { type: 'string', enum: ['a', 'b'] }],
  [{ type: 'array' }, { type: 'array', items: { type: 'string' } }],
  [
    { type: 'array', items: { type: 'integer' } },
    { type: 'array', items: { type: 'integer' } },
  ],
  [
    { type: 'object', properties: { a: { type: 'integer' }, b: true }, required: ['a'] },
    { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
  ],
  [
    { type: 'object', required: [] },
    { type: 'object', properties: {} },
  ],
  [
    { type: 'integer', description: 'Seconds.', minimum: 1, maximum: 9, default: 5 },
    { type: 'integer', description: 'Seconds. 1 to 9. Default 5.' },
  ],
  [
    { type: 'integer', description: 'Seconds, by default 5.', default: 5 },
    { type: 'integer', description: 'Seconds, by default 5.' },
  ],
] as const) {
  test(`${JSON.stringify(schema)} in the subset`, () => assert.deepEqual(simplifyJsonSchema(schema), expected));
}
