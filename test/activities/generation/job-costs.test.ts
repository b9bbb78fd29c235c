import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskEndedAbortReason } from '../../../activities/running-attempts.ts';
import { wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { ProviderWithTermsAndPoller } from '../../../src/providers/open-providers.ts';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import { listPools } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import type { FakeOptions, FakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  accountId,
  database,
  passTime,
  played,
  prepareGenerations,
  priced,
  upstreamOf,
  worldOf,
} from './routing-stage.ts';

prepareGenerations();

// What a job has cost stays known when its task ends before the video is stored.

const cost = { currency: 'USD', perJob: 5_000_000 } as const;
const occupyingOf = async ({ provider }: FakeUpstream) =>
  (await listPools(database.db)).find((pool) => pool.provider === provider.name)?.occupying;

test('a task that is cancelled while its video is fetched keeps the cost of its job', async () => {
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
  const reported = { micros: 70_000, currency: 'USD', basis: 'reported' } as const;
  const error = { kind: 'upstream', detail: 'out of memory' } as const;
  const failed = { state: 'failed', error, cost: reported } as const;
  let polls = 0;
  const status: PolledProvider['status'] = async (jobs, signal) => {
    polls += 1;
    // The first poll ends with the deadline.
    if (polls === 1)
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return new Map(jobs.map(({ jobKey }) => [jobKey, failed]));
  };
  let cancels = 0;
  const cancel: PolledProvider['cancel'] = (...asked) => {
    cancels += 1;
    return upstream.provider.cancel(...asked);
  };
  const world = worldOf({ upstreams: [{ ...upstream, provider: { ...upstream.provider, status, cancel } }] });
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
  assert.deepEqual([cancels, await occupyingOf(upstream)], [0, 0], 'there is nothing to stop');
});

for (const [what, options, submit, outcome] of [
  [
    'was not accepted',
    { declines: () => ({ kind: 'not_accepted', reason: 'busy', detail: '429' }) },
    {},
    'not_created',
  ],
  ['was refused', { declines: () => ({ kind: 'refused', error: { kind: 'input', detail: 'no' } }) }, {}, 'refused'],
  [
    'was not found',
    { declines: () => ({ kind: 'unknown', detail: 'lost' }), recover: () => ({ kind: 'not_created' }) },
    {},
    'not_created',
  ],
  ['could not be sent', {}, { submit: () => Promise.reject(new TaskError('image_invalid', 'No image.')) }, 'refused'],
] satisfies [string, FakeOptions, Partial<PolledProvider>, string][]) {
  test(`a create that ${what} costs nothing, although a job of its provider has a price`, async () => {
    const upstream = upstreamOf('declining', options);
    const provider = { ...upstream.provider, ...submit };
    const upstreams = [{ ...upstream, provider }];
    const taskId = await acceptTestTask(database.db, accountId, taskParam('declined'));
    const world = worldOf({ upstreams, terms: { cost }, change: priced(cost) });
    for (let attempts = 0; attempts < 3; attempts += 1) {
      const attempt = silentActivity({ workflowId: taskId }, () =>
        wireActivities(world).generation.generateVideo({ taskId, isRemote: true }),
      );
      await assert.rejects(attempt);
      await passTime();
    }
    const [job] = await listProviderJobs(database.db, taskId);
    assert.deepEqual([job?.outcome, job?.costMicros, job?.costBasis], [outcome, 0, 'estimated']);
  });
}

test('a job that its upstream loses after it has ended keeps the cost of its end, and its slot is free', async () => {
  const upstream = upstreamOf('forgetful');
  let downloads = 0;
  const result: PolledProvider['result'] = () => {
    downloads += 1;
    return Promise.reject(new Error('our store is down'));
  };
  const upstreams = [{ ...upstream, provider: { ...upstream.provider, result } }];
  const change = (parts: WorkerParts): WorkerParts => {
    const { providers, ...world } = priced(cost)(parts);
    const losing = (open: ProviderWithTermsAndPoller | undefined) =>
      open && {
        ...open,
        poller: { follow: async () => ({ state: downloads === 0 ? ('succeeded' as const) : ('lost' as const) }) },
      };
    return {
      ...world,
      providers: {
        ...providers,
        ofEntry: (entry) => losing(providers.ofEntry(entry)),
        ofJob: (job) => losing(providers.ofJob(job)),
      },
    };
  };
  const { end, rows } = await played({ upstreams, terms: { cost }, change });
  assert.deepEqual([end, downloads], ['provider_unavailable', 1]);
  assert.deepEqual(
    rows.map((job) => [job.outcome, job.costMicros, job.costBasis]),
    [['abandoned', 5_000_000, 'estimated']],
  );
  assert.equal(await occupyingOf(upstream), 0);
});
