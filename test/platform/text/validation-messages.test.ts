import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import {
  choiceMessage,
  fieldErrorsOfIssue,
  messageOfRequestIssue,
  unknownFieldMessage,
  validationMessage,
} from '../../../src/platform/text/validation-messages.ts';

type Errors = readonly (readonly [path: string, message: string])[];

function errorsOf(schema: z.ZodType, value: unknown): Errors {
  const { error } = schema.safeParse(value, { error: messageOfRequestIssue });
  return (error?.issues ?? []).flatMap(fieldErrorsOfIssue).map(({ path, message }) => [path, message]);
}

/** The message for the whole value. */
function messageOf(schema: z.ZodType, value: unknown): string | undefined {
  const [error, ...others] = errorsOf(schema, value);
  assert.deepEqual(others, []);
  return error?.[1];
}

test('the message for a wrong type names the right one in words, and a missing value is required', () => {
  for (const [schema, message] of [
    [z.string(), 'must be a string'],
    [z.number(), 'must be a number'],
    [z.boolean(), 'must be true or false'],
    [z.array(z.string()), 'must be an array'],
    [z.strictObject({}), 'must be an object'],
    [z.record(z.string(), z.string()), 'must be an object'],
    [z.null(), 'must be null'],
    [z.undefined(), 'must be left out'],
    [z.bigint(), 'must be bigint'],
  ] as const)
    assert.equal(messageOf(schema, schema instanceof z.ZodString ? 5 : 'x'), message);
  assert.equal(messageOf(z.int(), 1.5), 'must be a whole number');
  assert.equal(messageOf(z.string(), undefined), 'is required');
  assert.equal(messageOf(z.enum(['a', 'b']), undefined), 'is required');
  assert.equal(messageOf(z.string(), null), 'must be a string');
});

test('the message for a value out of its bounds names the bound, with what is counted', () => {
  for (const [schema, value, message] of [
    [z.number().min(3), 2, 'must be at least 3'],
    [z.number().max(3), 4, 'must be at most 3'],
    [z.string().min(1), '', 'must have at least 1 character'],
    [z.string().min(2), 'a', 'must have at least 2 characters'],
    [z.string().max(1), 'ab', 'must have at most 1 character'],
    [z.array(z.number()).min(2), [1], 'must have at least 2 items'],
    [z.array(z.number()).max(1), [1, 2], 'must have at most 1 item'],
    [z.number().multipleOf(8), 9, 'must be a multiple of 8'],
  ] as const) {
    assert.equal(messageOf(schema, value), message);
  }
});

test('the message for a text names its form, and one whose form has no words is not valid', () => {
  for (const [schema, message] of [
    [z.uuid(), 'must be a UUID'],
    [z.url(), 'must be a URL'],
    [z.email(), 'must be an e-mail address'],
    [z.iso.date(), 'must be a day, such as 2026-01-31'],
    [z.iso.datetime(), 'must be a time, such as 2026-01-31T12:00:00Z'],
    [z.ipv4(), 'is not valid'],
    [z.string().refine(() => false), 'is not valid'],
    [z.string().refine(() => false, { error: 'must be mine' }), 'must be mine'],
  ] as const)
    assert.equal(messageOf(schema, 'x'), message);
});

test('a choice names what is allowed, and what was probably meant', () => {
  assert.equal(messageOf(z.enum(['waiting', 'success']), 'sucess'), choiceMessage('sucess', ['waiting', 'success']));
  assert.equal(
    choiceMessage('sucess', ['waiting', 'success']),
    'must be one of waiting, success; did you mean success?',
  );
  assert.equal(choiceMessage('x', ['waiting', 'success']), 'must be one of waiting, success');
  assert.equal(choiceMessage(7, ['7a', '77']), 'must be one of 7a, 77');
  assert.equal(choiceMessage('no', ['yes']), 'must be yes');
  assert.equal(messageOf(z.literal(5), 6), 'must be 5');
});

test('the message for a value that may have several forms names each of them once', () => {
  assert.equal(messageOf(z.union([z.string(), z.number(), z.string()]), true), 'must be a string or a number');
  const own = z.string().refine(() => false, { error: 'is broken', abort: true });
  assert.equal(messageOf(z.union([own, own]), 'x'), 'has none of the allowed forms');
  assert.equal(messageOf(z.union([own, z.number()]), 'x'), 'must be a number');
  const error = 'has an error of its own';
  assert.equal(messageOf(z.union([z.string(), z.number()], { error }), true), error);
});

test('the errors of a value that resembles one form are those of that form, with whole paths', () => {
  const schema = z.strictObject({
    hook: z.union([z.string(), z.strictObject({ url: z.string(), tries: z.number() }), z.array(z.number())]),
  });
  assert.deepEqual(errorsOf(schema, { hook: { url: 5, tries: 'x' } }), [
    ['hook.url', 'must be a string'],
    ['hook.tries', 'must be a number'],
  ]);
  assert.deepEqual(errorsOf(schema, { hook: { url: 'a', tries: 1, tris: 2 } }), [
    ['hook.tris', 'unknown field, did you mean tries?'],
  ]);
  assert.deepEqual(errorsOf(schema, { hook: true }), [['hook', 'must be a string or an object or an array']]);
});

test('a form that is chosen by a field has to name one of those that there are', () => {
  const schema = z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('http'), url: z.string() }),
    z.strictObject({ kind: z.literal('none') }),
  ]);
  assert.deepEqual(errorsOf(schema, { kind: 'htp' }), [['kind', 'must be one of http, none; did you mean http?']]);
  assert.deepEqual(errorsOf(schema, { kind: 'http', url: 1 }), [['url', 'must be a string']]);
  assert.deepEqual(errorsOf(schema, 'x'), [['', 'must be an object']]);
});

test('each unknown field has an error of its own, with the known one that was probably meant', () => {
  const schema = z.strictObject({ input: z.strictObject({ prompt: z.string(), ratio: z.string().optional() }) });
  assert.deepEqual(errorsOf(schema, { input: { prompt: 'a', promt: 'b', aspect_ratio: 'c', zzz: 'd' } }), [
    ['input.promt', 'unknown field, did you mean prompt?'],
    ['input.aspect_ratio', 'unknown field, did you mean ratio?'],
    ['input.zzz', 'unknown field'],
  ]);
  assert.equal(unknownFieldMessage('promt', ['ratio', 'prompt']), 'unknown field, did you mean prompt?');
  assert.equal(unknownFieldMessage('zzz', ['ratio', 'prompt']), 'unknown field');
});

test('a schema with words of its own about unknown fields keeps them, for all fields or for the whole', () => {
  const saying = (error: string) => z.strictObject({ a: z.string().optional() }, { error });
  assert.deepEqual(errorsOf(saying('unknown parameters b, c'), { b: 1, c: 2 }), [['', 'unknown parameters b, c']]);
  assert.deepEqual(errorsOf(saying('must not have this'), { b: 1, c: 2 }), [
    ['b', 'unknown field'],
    ['c', 'unknown field'],
  ]);
});

test('the key of a map has an error of its own', () => {
  const schema = z.record(z.string().max(3), z.number());
  assert.deepEqual(errorsOf(schema, { long: 1 }), [['long', 'must have at most 3 characters']]);
});

test('a file that calls types otherwise has its own words, and only the schema explains the rest', () => {
  const messages: (string | undefined)[] = [];
  const error = (issue: z.core.$ZodRawIssue) => {
    messages.push(validationMessage(issue, { object: 'a map' }));
    return undefined;
  };
  const schema = z.strictObject({ a: z.strictObject({}), b: z.string(), c: z.string(), d: z.ipv4() });
  assert.equal(schema.safeParse({ a: 'x', b: 1, d: 'x', e: 1 }, { error }).error?.issues.length, 5);
  assert.deepEqual(messages, ['must be a map', 'must be string', 'is required', undefined, undefined]);
});
