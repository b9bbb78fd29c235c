import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNearestName, unknownNameMessage } from '../../../src/platform/text/did-you-mean.ts';

const known = ['prompt', 'ratio', 'resolution', 'seed', 'abc'];

for (const [given, meant] of [
  ['promt', 'prompt'],
  ['PROMPT', 'prompt'],
  ['pro-mpt', 'prompt'],
  ['aspect_ratio', 'ratio'],
  ['resolutions', 'resolution'],
  ['sed', 'seed'],
  // At most a third of the letters may differ.
  ['abd', 'abc'],
  ['ab', 'abc'],
  ['ax', undefined],
  ['sxxd', undefined],
  // A name of three letters within another one says nothing.
  ['my_abc_field', undefined],
  ['a', undefined],
  ['', undefined],
  ['weather', undefined],
  [`prompt${'t'.repeat(59)}`, undefined],
] as const) {
  test(`${given} means ${meant}`, () => assert.equal(findNearestName(given, known), meant));
}

test('of several near names the nearest is meant, and without one all are listed', () => {
  assert.equal(findNearestName('prompts', ['promptly', 'prompt']), 'prompt');
  assert.equal(unknownNameMessage('field', 'sed', known), 'unknown field, did you mean seed?');
  assert.equal(unknownNameMessage('field', 'weather', ['a', 'b']), 'unknown field, allowed: a, b');
});
