import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOfAttemptEnd } from '../../../activities/generation/attempt-end-to-error.ts';
import { finalTaskFailureOf } from '../../../src/catalogue/tasks/task-error.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import type { AttemptEndWithoutVideo } from '../../../src/tasks/jobs/job-of-attempt-types.ts';

for (const [pauseMs, nextRetryDelay] of [
  [0, 1_000],
  [999, 1_000],
  [1_500.2, 1_501],
  [119_999.5, 120_000],
  [600_000, 120_000],
] as const) {
  test(`a task that waits ${pauseMs} ms is tried again after ${nextRetryDelay} ms: within a second and two minutes`, () => {
    const error = errorOfAttemptEnd({ kind: 'waits', pauseMs, why: 'full' });
    assert.ok(error instanceof ApplicationFailure);
    assert.deepEqual(
      [error.nextRetryDelay, error.type, error.message, error.category, error.nonRetryable],
      [nextRetryDelay, 'waiting', 'full', 'BENIGN', false],
    );
  });
}

test('each way to stop is an error that ends the task, repeats the attempt, or neither', () => {
  const failure = { failCode: 'content_rejected', failMsg: 'no' } as const;
  const stops: readonly AttemptEndWithoutVideo[] = [
    { kind: 'task_failed', failure, detail: 'of the upstream' },
    { kind: 'undecided', detail: 'of the upstream' },
    { kind: 'interrupted' },
    { kind: 'cancelled' },
  ];
  const [failed, undecided, interrupted, cancelled] = stops.map(errorOfAttemptEnd);
  assert.ok(failed instanceof TaskError && undecided instanceof TaskError);
  assert.deepEqual([failed.failCode, failed.message, failed.retryable], ['content_rejected', 'no', false]);
  assert.deepEqual([undecided.failCode, undecided.retryable], ['provider_unavailable', true]);
  for (const error of [failed, undecided]) assert.match(String(error.cause), /of the upstream/);
  assert.ok(interrupted instanceof ApplicationFailure);
  assert.deepEqual([interrupted.type, interrupted.category], ['interrupted', 'BENIGN']);
  assert.ok(cancelled instanceof CancelledFailure);
  assert.deepEqual(finalTaskFailureOf(failed), failure);
  for (const error of [undecided, interrupted, new Error('any')]) assert.equal(finalTaskFailureOf(error), undefined);
});
