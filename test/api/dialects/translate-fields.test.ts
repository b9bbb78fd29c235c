import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  duplicateSpellingErrors,
  fieldValueFromText,
  jsonFromText,
  scalarFromText,
  withoutEmptyAndIgnoredFields,
} from '../../../src/api/dialects/translate-fields.ts';

test('a text that spells a number or a boolean becomes it, and anything else stays as it is', () => {
  for (const [text, value] of [
    ['true', true],
    ['False', false],
    ['0', 0],
    ['-5', -5],
    ['5.25', 5.25],
    ['9'.repeat(15), 999_999_999_999_999],
    [`1.${'1'.repeat(9)}`, 1.111_111_111],
  ] as const)
    assert.equal(scalarFromText(text), value);
  const others = ['', 'truely', 'untrue', ' 5', '5 ', '5s', '.5', '5.', '1e3', '9'.repeat(16), `1.${'1'.repeat(10)}`];
  for (const value of [...others, 7, null, undefined]) assert.equal(scalarFromText(value), value);
});

test('a text that spells an object or a list becomes it, and anything else stays as it is', () => {
  for (const [text, value] of [
    ['{"a":1}', { a: 1 }],
    ['\n [1]', [1]],
  ] as const)
    assert.deepEqual(jsonFromText(text), value);
  for (const value of ['{', '5', '"{}"', 'a {}', '{"a":1,"a":2}', 7, null]) assert.equal(jsonFromText(value), value);
});

test('options that are sent as text become numbers and booleans for every model', () => {
  assert.deepEqual(fieldValueFromText('options', { steps: '5', fast: 'true' }, undefined), { steps: 5, fast: true });
  for (const [name, value] of [
    ['options', '5'],
    ['prompt', '5'],
  ] as const)
    assert.equal(fieldValueFromText(name, value, undefined), value);
});

test('a field without a value is left out, and so is one that is ignored; an empty prompt is a value', () => {
  const kept = { prompt: '', count: 0, fast: false, list: [] };
  const given = { ...kept, ratio: '', seed: null, user: 'u' };
  assert.deepEqual(withoutEmptyAndIgnoredFields(given, ['user']), kept);
  assert.deepEqual(withoutEmptyAndIgnoredFields({ prompt: null }, []), {});
});

test('each further spelling of a field is refused with the first one', () => {
  const fields = [
    ['duration', 'seconds'],
    ['ratio', 'aspect_ratio'],
    ['duration', 'duration'],
    ['duration', 'metadata.duration'],
  ] as const;
  const message = 'means the same as seconds; give one of them';
  assert.deepEqual(duplicateSpellingErrors(fields.map(([ours, theirs]) => ({ ours, theirs, value: 5 }))), [
    { path: 'duration', message },
    { path: 'metadata.duration', message },
  ]);
});
