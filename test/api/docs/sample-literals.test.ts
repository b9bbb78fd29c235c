import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInThisContext } from 'node:vm';
import { pythonLiteral, javaScriptLiteral } from '../../../src/api/docs/samples/literals.ts';

const value = { yes: true, no: false, none: null, count: 5, 'a-b': ['x', { y: 'z' }] };

test('a value in Python has its words, keys in quotes and no spaces inside braces', () => {
  assert.equal(pythonLiteral({ yes: true, no: false, none: null }), '{"yes": True, "no": False, "none": None}');
  assert.equal(pythonLiteral([1, 'it\'s "so"\n']), String.raw`[1, "it's \"so\"\n"]`);
});

test('a value in a script is itself, with quotes that need no escape', () => {
  assert.equal(javaScriptLiteral({ yes: true, none: null, 'a-b': 1 }), "{ yes: true, none: null, 'a-b': 1 }");
  assert.equal(javaScriptLiteral(['a\\b\nc', "it's"]), String.raw`['a\\b\nc', "it's"]`);
  assert.equal(javaScriptLiteral({}), '{}');
});

test('a list of sixty characters stands in one line, and of one more has a line for each item', () => {
  assert.equal(javaScriptLiteral(['x'.repeat(56)]), `['${'x'.repeat(56)}']`);
  assert.equal(javaScriptLiteral(['x'.repeat(57)]), `[\n  '${'x'.repeat(57)}',\n]`);
});

test('a long value has a line for each part, and is the same value', () => {
  const long = { ...value, text: 'x'.repeat(60), list: ['a'.repeat(30), 'b'.repeat(30)] };
  const script = javaScriptLiteral(long);
  assert.deepEqual(runInThisContext(`(${script})`), long);
  assert.ok(script.split('\n').every((line) => line.length <= 80));
  assert.match(pythonLiteral(long), /^\{\n {4}"yes": True,\n/);
  assert.match(script, /^\{\n {2}yes: true,\n/);
});
