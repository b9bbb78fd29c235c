import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failCodes, outcomeOfFailCode, rejectedCodes } from '../../../src/catalogue/tasks/fail-codes-and-outcomes.ts';

test('a cancelled task and a rejected input are no failures of a provider, and every other reason is one', () => {
  const rejected = ['content_rejected', 'image_unreachable', 'image_invalid', 'media_unreachable', 'media_invalid'];
  const expected = (code: string) =>
    code === 'cancelled' ? 'cancelled' : rejected.includes(code) ? 'rejected' : 'failed';
  assert.deepEqual(failCodes.map(outcomeOfFailCode), failCodes.map(expected));
  assert.equal(outcomeOfFailCode('a code of a later release'), 'failed');
  assert.deepEqual(rejectedCodes, rejected);
});
