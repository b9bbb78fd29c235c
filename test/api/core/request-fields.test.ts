import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { pickRowFieldsBySchema } from '../../../src/api/core/pick-row-fields-by-schema.ts';
import { HttpError } from '../../../src/api/core/http-error.ts';
import { readIdempotencyKeyOrError, requireIdempotencyKey } from '../../../src/api/core/idempotency-key.ts';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';
import {
  idField,
  isOneLine,
  maxCredits,
  maxUnixMs,
  oneOf,
  uncheckedIdField,
  orNull,
  secretOverlapSecondsField,
  oneLineTextField,
  reasonField,
  requiredOrInvalidMessage,
  unixMsSchema,
  wholeNumberField,
} from '../../../src/api/core/request-fields.ts';
import { emailField, passwordField } from '../../../src/api/people/email-and-password-fields.ts';

const id = '019abc12-3456-7def-8901-234567890abc';
const x = (count: number) => 'x'.repeat(count);

type Values = readonly unknown[];
const fields: readonly (readonly [name: string, schema: z.ZodType, accepted: Values, refused: Values])[] = [
  ['unixMs', unixMsSchema, [0, 1], [-1, 0.5, '1', null]],
  [
    'plain text',
    oneLineTextField(3),
    ['a', ' a ', 'abc', 'äöü'],
    ['', ' ', '\u00a0', '\u200b', 'abcd', 'a\n', 'a\u202e', 7],
  ],
  ['a reason', reasonField, ['x', x(500)], ['', ' ', x(501)]],
  ['one of', oneOf(['a', 'b']), ['a', 'b'], ['c', 'A', '', null]],
  ['a whole number', wholeNumberField(2, 4), [2, 3, 4], [1, 5, 2.5, '3', null, Infinity]],
  ['an id', idField('a key'), [id], ['x', '', null, 7]],
  ['an opaque id', uncheckedIdField, [id, 'x', ''], [null, 7, [id]]],
  ['an overlap', secretOverlapSecondsField, [0, 86_400, 2_592_000], [-1, 2_592_001, 0.5, '60', null]],
  ['a text or null', orNull(z.string()), ['x', null], [7, undefined]],
  ['an e-mail', emailField, ['a@b.example', `${x(64)}@b.example`], ['a', 'a@b', '@b.example', 'a b@c.example', null]],
  ['an e-mail of 254 characters', emailField, [`${x(244)}@b.example`], [`${x(245)}@b.example`]],
  ['a password', passwordField, ['', 'x', x(128), '🦊'.repeat(128)], [x(129), '🦊'.repeat(129), null, 7]],
];

for (const [name, schema, accepted, refused] of fields) {
  test(`${name} has its bounds`, () => {
    const isAccepted = (value: unknown) => schema.safeParse(value).success;
    for (const value of accepted) assert.equal(isAccepted(value), true, JSON.stringify(value));
    for (const value of refused) assert.equal(isAccepted(value), false, JSON.stringify(value));
  });
}

test('an overlap is a day by default, and an e-mail has one spelling', () => {
  assert.equal(secretOverlapSecondsField.parse(undefined), 86_400);
  assert.equal(emailField.parse(' Ada@B.Example '), 'ada@b.example');
});

test('bounds of times and credits are exact numbers whose dates and sums can be computed', () => {
  assert.deepEqual([maxUnixMs, maxCredits], [9_999_999_999_999, 1_000_000_000_000]);
  assert.equal(new Date(maxUnixMs).getUTCFullYear(), 2286);
});

test('a missing field is required, and the error of a wrong value says what is allowed', () => {
  const message = requiredOrInvalidMessage('must be a text');
  assert.ok(typeof message === 'function');
  assert.deepEqual([message({ input: undefined }), message({ input: null })], ['is required', 'must be a text']);
});

test('one line has no line break, no lone surrogate and no character that reorders text', () => {
  for (const text of ['', 'a b', 'ä\u00a0🦊', 'שלום']) assert.equal(isOneLine(text), true, text);
  for (const text of ['a\nb', 'a\rb', '\0', '\x85', '\ud800', '\u061c', '\u200e', '\u202a', '\u2066', '\u2069'])
    assert.equal(isOneLine(text), false, JSON.stringify(text));
});

test('a response has the fields of its schema alone; those without a value are null', () => {
  const schema = z.strictObject({ a: z.number().nullable(), b: z.boolean(), c: z.string().nullable() });
  const row = { a: undefined, b: false, c: '', secret: 'x' };
  assert.deepEqual(pickRowFieldsBySchema(schema, row), { a: null, b: false, c: '' });
  assert.deepEqual(pickRowFieldsBySchema(schema, { a: 0, b: true, c: null }), { a: 0, b: true, c: null });
});

const contextOf = (value: string | string[] | undefined) =>
  // The part of a context that the functions read.
  ({ req: { headers: { 'idempotency-key': value } } }) as unknown as Context;

test('an Idempotency-Key has 1 to 255 visible characters, and two of them are one that is refused', () => {
  const longest = '~'.repeat(255);
  for (const key of ['!', longest, 'a,b']) {
    assert.deepEqual(readIdempotencyKeyOrError(contextOf(key)), { key });
    assert.equal(requireIdempotencyKey(contextOf(key)), key);
  }
  assert.deepEqual(readIdempotencyKeyOrError(contextOf(undefined)), { key: undefined });
  const error = { path: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' };
  for (const value of ['', `${longest}~`, 'a b', 'ä', '\x7f', ['a', 'b']]) {
    assert.deepEqual(readIdempotencyKeyOrError(contextOf(value)), { error }, String(value));
    assert.throws(() => requireIdempotencyKey(contextOf(value)), HttpError, String(value));
  }
  assert.throws(
    () => requireIdempotencyKey(contextOf(undefined)),
    (thrown) => {
      assert.ok(thrown instanceof HttpError);
      const required = { path: 'Idempotency-Key', message: 'is required' };
      assert.deepEqual(thrown.envelope.data, { errors: [required] });
      return true;
    },
  );
});
