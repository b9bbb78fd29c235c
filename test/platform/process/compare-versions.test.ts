import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlderVersion } from '../../../src/platform/process/compare-versions.ts';

for (const [version, than, expected] of [
  ['20.9.0', '20.19.0', true],
  ['20.19.0', '20.9.0', false],
  ['20.19', '20.19', false],
  ['9', '10', true],
  ['22.0.0', '20.19', false],
] as const) {
  test(`${version} is ${expected ? '' : 'not '}older than ${than}`, () =>
    assert.equal(isOlderVersion(version, than), expected));
}
