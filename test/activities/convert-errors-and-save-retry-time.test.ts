import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  withTaskErrorsConverted,
  withErrorsConvertedAndRetrySaved,
} from '../../activities/convert-errors-and-save-retry-time.ts';
import { TaskError } from '../../src/catalogue/tasks/task-error.ts';
import { silentActivity } from '../support/workflows/silent-activity.ts';

function fails(thrown: unknown) {
  return () => Promise.reject(thrown);
}

const cause = new Error('of the upstream');

test('an error about a task becomes a failure with its code, its sentence and its cause', async () => {
  for (const retryable of [true, false]) {
    const thrown = new TaskError('content_rejected', 'No.', { retryable, cause });
    const [made] = await Promise.allSettled([withTaskErrorsConverted(fails(thrown))]);
    const failure: unknown = made.status === 'rejected' ? made.reason : assert.fail('it succeeded');
    assert.ok(failure instanceof ApplicationFailure);
    const { message, type, nonRetryable, cause: kept } = failure;
    assert.deepEqual([message, type, nonRetryable, kept], ['No.', 'content_rejected', !retryable, cause]);
  }
});

test('a result and any other error pass unchanged', async () => {
  assert.equal(await withTaskErrorsConverted(() => Promise.resolve(7)), 7);
  const [made] = await Promise.allSettled([withTaskErrorsConverted(fails(cause))]);
  assert.equal(made.status === 'rejected' && made.reason, cause);
});

/** Returns the pause that was recorded after an attempt, by its number, which failed with this error. */
async function recordedPause(thrown: unknown, attempt: number, isDown = false): Promise<unknown> {
  const recorded: unknown[] = [];
  const run = async (_statement: unknown, values: readonly unknown[] = []) => {
    recorded.push(values);
    if (isDown) throw new Error('down');
    return [];
  };
  const unused = () => assert.fail('not used');
  const db = { run, transaction: unused, runExclusive: unused, close: unused };
  const work = () => withErrorsConvertedAndRetrySaved(db, 'task', fails(thrown));
  const [made] = await Promise.allSettled([silentActivity({ workflowId: 'task', attempt }, work)]);
  const message = thrown instanceof Error ? thrown.message : '';
  assert.equal(made.status === 'rejected' && made.reason instanceof Error && made.reason.message, message);
  return recorded;
}

for (const [title, error, attempt, recorded] of [
  ['an error', cause, 1, [['task', 1_000]]],
  ['the third error', cause, 3, [['task', 4_000]]],
  ['the tenth error', cause, 10, [['task', 30_000]]],
  ['a wait', ApplicationFailure.create({ message: 'full', nextRetryDelay: 7_000 }), 3, [['task', 7_000]]],
  ['a refusal', new TaskError('content_rejected', 'No.'), 1, []],
  ['an outage', new TaskError('provider_unavailable', 'Later.', { retryable: true }), 1, [['task', 1_000]]],
  ['a cancellation', new CancelledFailure('cancelled'), 1, []],
] as const) {
  test(`after ${title} the time of the next attempt is recorded, if there is one`, async () => {
    assert.deepEqual(await recordedPause(error, attempt), recorded);
  });
}

test('a retry that cannot be recorded keeps the error of its attempt', async () => {
  assert.deepEqual(await recordedPause(cause, 1, true), [['task', 1_000]]);
});
