import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeControlCharacters } from '../../../src/run/cli/command-output-and-errors.ts';

test('control sequences in a prompt or a message of an upstream do not reach the terminal', () => {
  assert.equal(
    escapeControlCharacters('a\u001b[2Jboat\tat\nnight\u009b, 東京'),
    'a\\x1b[2Jboat\\x09at\nnight\\x9b, 東京',
  );
});
