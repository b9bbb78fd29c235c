import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskEndedAbortReason } from '../../../activities/running-attempts.ts';
import { wireActivities } from '../../../src/run/main/wire-activities.ts';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { waitFor } from '../../support/wait-for.ts';
import { accountId, database, prepareGenerations, priced, upstreamOf, worldOf } from './routing-stage.ts';

prepareGenerations();

// What a job has cost stays known when its task ends before the video is stored.

test('a task that is cancelled while its video is fetched keeps the cost of its job', async () => {
  const cost = { currency: 'USD', perJob: 5_000_000 } as const;
  const upstream = upstreamOf('costly');
  const end = new AbortController();
  const result: PolledProvider['result'] = async (_job, _result, { signal }) => {
    end.abort(new TaskEndedAbortReason());
    signal.throwIfAborted();
    return assert.fail('the task has not ended');
  };
  const provider = { ...upstream.provider, result };
  const world = worldOf({ upstreams: [{ ...upstream, provider }], terms: { cost }, change: priced(cost) });
  const taskId = await acceptTestTask(database.db, accountId, taskParam('costly'));
  const attempts = { begin: () => ({ signal: end.signal, stop: () => {} }) };
  const parts = { ...world, watches: { ...world.watches, attempts } };
  const attempt = silentActivity({ workflowId: taskId }, () =>
    wireActivities(parts).generation.generateVideo({ taskId, isRemote: true }),
  );
  await assert.rejects(attempt, { name: 'CancelledFailure' });
  const [job] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([job?.outcome, job?.costMicros, job?.costBasis], ['abandoned', 5_000_000, 'estimated']);
});

test('a job that is found failed at the deadline keeps the cost that its upstream reports', async () => {
  const upstream = upstreamOf('failing', { instant: false });
  const cost = { micros: 70_000, currency: 'USD', basis: 'reported' } as const;
  const failed = { state: 'failed', error: { kind: 'upstream', detail: 'out of memory' }, cost } as const;
  let polls = 0;
  const status: PolledProvider['status'] = async (jobs, signal) => {
    polls += 1;
    // The first poll ends with the deadline.
    if (polls === 1)
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return new Map(jobs.map(({ jobKey }) => [jobKey, failed]));
  };
  const world = worldOf({ upstreams: [{ ...upstream, provider: { ...upstream.provider, status } }] });
  const deadlines = createTestDeadlines();
  const taskId = await acceptTestTask(database.db, accountId, taskParam('failing'));
  const parts = { ...world, watches: { ...world.watches, startDeadline: deadlines.startDeadline } };
  const attempt = silentActivity({ workflowId: taskId }, () =>
    wireActivities(parts).generation.generateVideo({ taskId, isRemote: true }),
  );
  const rejected = assert.rejects(attempt, { type: 'timeout' });
  await waitFor('a poll', () => polls || undefined);
  deadlines.pass();
  await rejected;
  const [job] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([job?.outcome, job?.costMicros, job?.costBasis], ['abandoned', 70_000, 'reported']);
  assert.equal(job?.failure?.failCode, 'timeout');
});
