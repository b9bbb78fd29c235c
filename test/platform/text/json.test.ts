import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isObject, parsedJson } from '../../../src/platform/text/json.ts';

test('an object is neither null nor a list, and a text that is no JSON has no value', () => {
  assert.deepEqual(['{}', '{"a":1}', 'null', '[]', '"a"', '1', '{', ''].map(parsedJson).map(isObject), [
    true,
    true,
    ...Array<boolean>(6).fill(false),
  ]);
  assert.deepEqual([parsedJson('{"a":[1]}'), parsedJson('{')], [{ a: [1] }, undefined]);
});
