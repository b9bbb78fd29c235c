import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { endpoints } from '../../../src/api/endpoints.ts';
import { fieldErrorsOfIssue, messageOfRequestIssue } from '../../../src/platform/text/validation-messages.ts';

// Every schema of a body or query gets values of every wrong type at every place. The validator's own words are for programmers.

const wrong: readonly unknown[] = [
  undefined,
  null,
  0,
  -1.5,
  1e30,
  '',
  ' ',
  'x',
  'x'.repeat(10_000),
  true,
  [],
  {},
  [1],
  ['x', null],
  { unknown: 1 },
  [{ unknown: 1 }],
];

type Schema = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every place of a schema at which a request may have a value. */
function placesOf(schema: Schema, root: Schema, path: Path = [], depth = 0): readonly Path[] {
  if (depth > 6) return [path];
  const { $ref: ref, properties, items, anyOf, oneOf, additionalProperties } = schema;
  if (typeof ref === 'string') {
    const target = ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, step) => (isSchema(at) ? at[step] : undefined), root);
    return isSchema(target) ? placesOf(target, root, path, depth + 1) : [path];
  }
  const below = [
    ...Object.entries(isSchema(properties) ? properties : {}),
    ...(isSchema(additionalProperties) ? [['any', additionalProperties] as const] : []),
  ].flatMap(([name, one]) => (isSchema(one) ? placesOf(one, root, [...path, name], depth + 1) : []));
  const item = isSchema(items) ? placesOf(items, root, [...path, 0], depth + 1) : [];
  const forms = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.filter(isSchema) : []));
  return [path, ...below, ...item, ...forms.flatMap((form) => placesOf(form, root, path, depth + 1))];
}

function valueAt([first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value;
  return typeof first === 'number' ? [valueAt(rest, value)] : { [first]: valueAt(rest, value) };
}

const raw =
  /invalid (?:input|option|string|key|element)|expected|received|unrecognized|too (?:big|small)|nan\b|undefined|^is not valid$/i;

function messagesOf(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value, { error: messageOfRequestIssue });
  return (error?.issues ?? []).flatMap(fieldErrorsOfIssue).map(({ message }) => message);
}

for (const { operationId, body, query } of endpoints) {
  for (const [part, schema] of Object.entries({ body, query })) {
    if (schema === undefined) continue;
    test(`${operationId}: no words of the validator in errors of its ${part}`, () => {
      const document = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
      const places = [...new Map(placesOf(document, document).map((path) => [JSON.stringify(path), path])).values()];
      for (const path of places) {
        for (const value of wrong) {
          for (const message of messagesOf(schema, valueAt(path, value))) {
            assert.doesNotMatch(message, raw, `${JSON.stringify(path)} ${JSON.stringify(value)?.slice(0, 80)}`);
            assert.notEqual(message, '');
          }
        }
      }
    });
  }
}

test('an unknown field gets the name that was probably meant, also within objects and lists', () => {
  const schema = z.strictObject({
    size: z.string().optional(),
    list: z.array(z.strictObject({ frame_type: z.string() })).optional(),
  });
  const errorsOf = (value: unknown) =>
    (schema.safeParse(value, { error: messageOfRequestIssue }).error?.issues ?? []).flatMap(fieldErrorsOfIssue);
  assert.deepEqual(errorsOf({ Size: 'x', other: 1 }), [
    { path: 'Size', message: 'unknown field, did you mean size?' },
    { path: 'other', message: 'unknown field' },
  ]);
  assert.deepEqual(errorsOf({ list: [{ frame_type: 'a', frametype: 'b' }] }), [
    { path: 'list[0].frametype', message: 'unknown field, did you mean frame_type?' },
  ]);
});

test('of several forms, the errors are those of the one that the value resembles', () => {
  const schema = z.strictObject({ image: z.union([z.string(), z.strictObject({ url: z.string() })]) });
  const errorsOf = (value: unknown) =>
    (schema.safeParse(value, { error: messageOfRequestIssue }).error?.issues ?? []).flatMap(fieldErrorsOfIssue);
  assert.deepEqual(errorsOf({ image: 7 }), [{ path: 'image', message: 'must be a string or an object' }]);
  assert.deepEqual(errorsOf({ image: { url: 7 } }), [{ path: 'image.url', message: 'must be a string' }]);
  assert.deepEqual(errorsOf({}), [{ path: 'image', message: 'is required' }]);
});
