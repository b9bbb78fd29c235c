import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFieldError, fieldPath, firstOfEachPath } from '../../../src/platform/text/field-errors.ts';

test('a path names fields with dots and items with brackets, and cuts a name that a client made long', () => {
  for (const [segments, path] of [
    [[], ''],
    [['input', 'imageUrls', 2], 'input.imageUrls[2]'],
    [[0, 'a', 1, 2], '[0].a[1][2]'],
    [['x'.repeat(64), 'y'.repeat(65)], `${'x'.repeat(64)}.${'y'.repeat(64)}…`],
  ] as const)
    assert.equal(fieldPath(segments), path);
});

test('an error of the whole body has no path', () => {
  assert.equal(describeFieldError({ path: '', message: 'must be an object' }), 'must be an object');
  assert.equal(describeFieldError({ path: 'input', message: 'is required' }), 'input: is required');
});

test('of several errors of a field the first stays', () => {
  const error = (path: string, message: string) => ({ path, message });
  const errors = [error('b', '1'), error('a', '2'), error('b', '3'), error('c', '4'), error('a', '5')];
  const left = firstOfEachPath(errors);
  assert.deepEqual(Object.fromEntries(left.map(({ path, message }) => [path, message])), { a: '2', b: '1', c: '4' });
  assert.equal(left.length, 3);
});
