import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { createJobObjectReader } from '../../../src/providers/jobs/vendor-job-object.ts';
import { jobOf, jobRequest } from '../contract/job-request.ts';

const job = jobOf(jobRequest(), 'job-1');

/** The words are those of the states. */
const records = createJobObjectReader(
  {
    recordIn: ({ id, status, progress }) =>
      typeof id === 'string' && typeof status === 'string'
        ? { id, status, progress: typeof progress === 'number' ? progress : undefined }
        : undefined,
    isMissing: ({ gone }, status) => status === 404 && gone === true,
    states: {
      queued: 'queued',
      running: 'running',
      stopping: 'stopping',
      succeeded: 'succeeded',
      failed: 'failed',
      canceled: 'canceled',
      missing: 'missing',
    },
    endOf: (_record, state) =>
      state === 'succeeded' ? { state } : { state: 'failed', error: { kind: 'upstream', detail: state } },
  },
  () => undefined,
);

function reply(status: number, body: JsonObject) {
  return { answer: { status, headers: {}, body: Buffer.from(JSON.stringify(body)) } };
}

const failed = (detail: string) => ({ state: 'failed', error: { kind: 'upstream', detail } });

describe('the record of a job in the state', () => {
  for (const [state, status, cancellation] of [
    ['queued', { state: 'queued', progress: 40 }, 'runs_on'],
    ['running', { state: 'running', progress: 40 }, 'runs_on'],
    ['stopping', { state: 'running', progress: 40 }, 'unclear'],
    ['succeeded', { state: 'succeeded' }, 'ended'],
    ['failed', failed('failed'), 'ended'],
    ['canceled', failed('canceled'), 'cancelled'],
    ['missing', { state: 'missing' }, 'ended'],
    ['odd', { state: 'running', progress: 40 }, 'runs_on'],
  ] as const)
    test(`${state} is ${JSON.stringify(status)}, and ${cancellation} after a cancellation`, () => {
      const answer = reply(200, { id: job.id, status: state, progress: 40 });
      assert.deepEqual(records.statusOf(answer, job), status);
      assert.equal(records.cancelOutcomeOf(answer, job), cancellation);
    });
});

describe('an answer without the record of the job', () => {
  for (const [answer, state, cancellation] of [
    [reply(404, { gone: true }), 'missing', 'ended'],
    [reply(404, {}), 'unclear', 'runs_on'],
    [reply(200, { id: 'another', status: 'succeeded' }), 'unclear', 'unclear'],
    [reply(500, { id: job.id, status: 'succeeded' }), 'unclear', 'unclear'],
  ] as const)
    test(`${answer.answer.status} ${String(answer.answer.body)} is ${state}, and ${cancellation} after a cancellation`, () => {
      assert.equal(records.statusOf(answer, job).state, state);
      assert.equal(records.cancelOutcomeOf(answer, job), cancellation);
    });
});
