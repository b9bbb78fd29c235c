import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ConfigError,
  describeErrorForLog,
  errorCode,
  isSystemError,
  messageOf,
} from '../../src/platform/setup-errors-and-error-messages.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });

test('an error of several addresses has the messages of its parts unless it has one of its own', () => {
  assert.equal(messageOf(new AggregateError([new Error('a'), 'b', new AggregateError([new Error('c')])])), 'a; b; c');
  assert.equal(messageOf(new AggregateError([new Error('a')], 'all')), 'all');
  assert.deepEqual([messageOf(new Error('')), messageOf('text'), messageOf(undefined)], ['', 'text', 'undefined']);
});

test('the code of an error is a text, and an error of the system has a call', () => {
  const [numbered, called] = [
    Object.assign(new Error('a'), { code: 7 }),
    Object.assign(new Error('b'), { syscall: '' }),
  ];
  const absent = Object.assign(new Error('c'), { syscall: undefined });
  const all = [refused, numbered, called, absent, new Error('d'), { code: 'E', syscall: 'x' }, undefined];
  assert.deepEqual(all.map(errorCode), ['ECONNREFUSED', ...Array<undefined>(6)]);
  assert.deepEqual(all.map(isSystemError), [true, false, true, false, false, false, false]);
});

test('an error is logged with its causes, of which the fourth is the last, and without other fields', () => {
  const nested = [1, 2, 3, 4].reduce<Error>((cause, level) => new Error(`level ${level}`, { cause }), refused);
  const messages: unknown[] = [];
  for (let one: unknown = describeErrorForLog(nested); one !== undefined; one = (one as { cause?: unknown }).cause)
    messages.push((one as { message: unknown }).message);
  assert.deepEqual(messages, ['level 4', 'level 3', 'level 2', 'level 1']);
  const { stack, ...others } = describeErrorForLog(Object.assign(refused, { detail: 'a row' }));
  assert.equal(stack, refused.stack);
  assert.deepEqual(others, { type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' });
  assert.deepEqual(describeErrorForLog('x'.repeat(1001)), { type: 'string', message: 'x'.repeat(1000) });
});

test('an error of the configuration lists all problems', () => {
  const error = new ConfigError(['a', 'b']);
  assert.deepEqual([error.problems, error.message], [['a', 'b'], 'The configuration is not usable:\n  a\n  b']);
});
