import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalTaskFailureOf, TaskError } from '../../../src/catalogue/tasks/task-error.ts';

test('an invalid task fails with the code and the message for its client, and without the detail for operators', () => {
  const cause = new Error('upstream detail');
  const error = new TaskError('image_invalid', 'The image is broken.', { cause });
  assert.equal(error.cause, cause);
  assert.equal(error.retryable, false);
  assert.equal(error.name, 'TaskError');
  assert.deepEqual(finalTaskFailureOf(error), { failCode: 'image_invalid', failMsg: 'The image is broken.' });
});

test('an error after which the same step may succeed ends no task, and neither does a bug', () => {
  const retryable = new TaskError('provider_unavailable', 'It is not available.', { retryable: true });
  assert.equal(retryable.retryable, true);
  for (const error of [
    retryable,
    new Error('a bug'),
    { failCode: 'internal', message: 'no error', retryable: false },
    undefined,
  ])
    assert.equal(finalTaskFailureOf(error), undefined);
  const final = new TaskError('internal', 'It failed.', { retryable: false });
  assert.deepEqual(finalTaskFailureOf(final), { failCode: 'internal', failMsg: 'It failed.' });
});
