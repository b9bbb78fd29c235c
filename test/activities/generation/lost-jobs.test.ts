import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { validate, version } from 'uuid';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { upstreamUploadKeyOf } from '../../../activities/task-file-keys-and-deletion.ts';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';
import type { ProviderWithTermsAndPoller } from '../../../src/providers/open-providers.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import {
  countOtherUnansweredCreates,
  intendOwnMachineJob,
  intendReservedJob,
  recordCreatedJob,
} from '../../../src/tasks/jobs/job-creates.ts';
import {
  endProviderJob,
  freeSlotAndRecordCost,
  recordLeftoverJobEnd,
  succeedProviderJob,
} from '../../../src/tasks/jobs/job-ends.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { listPools } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { providersOf } from '../../support/tasks/fake-providers.ts';
import type { FakeOptions, FakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { playTask } from '../../support/tasks/play-task.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import {
  accountId,
  database,
  folder,
  noop,
  passTime,
  played,
  prepareGenerations,
  renameProviders,
  upstreamOf,
  worldOf,
} from './routing-stage.ts';

prepareGenerations();

// Jobs that are lost: their response, the job, or its video.

test('if the operator allows it, a lost job is made again at the same provider, twice at most, under new names', async () => {
  const lost: FakeOptions = { losesAnswers: true, recover: () => ({ kind: 'unknown', detail: 'no list' }) };
  const [first, second] = [upstreamOf('first', lost), upstreamOf('second')];
  const story = {
    upstreams: [first, second],
    terms: { onLostJob: 'resubmit' },
    limit: 1,
    betweenAttempts: passTime,
  } as const;
  const { end, calls, taskId, requests: counted } = await played(story);
  assert.deepEqual(calls, ['first abandoned', 'first abandoned', 'first abandoned']);
  const lostOnce = ['call first unknown', 'lookup first unknown'];
  const again = [...lostOnce, 'resubmission first'];
  assert.deepEqual(counted, [...again, ...again, ...lostOnce]);
  assert.deepEqual([end, second.asked.length], ['provider_unavailable', 0]);
  const names = first.jobs.map(({ jobKey }) => jobKey);
  assert.deepEqual([names[0], new Set(names).size], [taskId, 3]);
  for (const name of names.slice(1)) assert.deepEqual([validate(name), version(name)], [true, 5]);
  const pools = (await listPools(database.db)).filter(({ provider }) => provider === first.provider.name);
  assert.deepEqual(
    pools.map(({ occupying }) => occupying),
    [1],
    'the last is left to reconcile, the others released their slots',
  );
});

test('a lost job is made again at the same provider also if that one accepts no job at first', async () => {
  let requests = 0;
  const busyOnce: FakeOptions = {
    lostVideos: 1,
    declines: () => {
      requests += 1;
      return requests === 2 ? { kind: 'not_accepted', reason: 'unreachable', detail: 'it restarts' } : undefined;
    },
  };
  const [first, second] = [upstreamOf('first', busyOnce), upstreamOf('second')];
  const terms = { onLostJob: 'resubmit' } as const;
  const { end, calls } = await played({ upstreams: [first, second], terms, betweenAttempts: passTime });
  assert.deepEqual([end, calls], ['success', ['first abandoned', 'first not_created', 'first success']]);
  assert.equal(second.asked.length, 0);
});

test('a lost job leads to no other provider also if the repeated create is refused', async () => {
  let requests = 0;
  const refusing: FakeOptions = {
    lostVideos: 1,
    declines: () => {
      requests += 1;
      return requests === 2 ? { kind: 'refused', error: { kind: 'input', detail: 'no such model' } } : undefined;
    },
  };
  const [first, second] = [upstreamOf('first', refusing), upstreamOf('second')];
  const terms = { onLostJob: 'resubmit' } as const;
  const { end, calls } = await played({ upstreams: [first, second], terms, betweenAttempts: passTime });
  assert.deepEqual([end, calls], ['provider_rejected', ['first abandoned', 'first refused']]);
  assert.deepEqual([first.asked.length, second.asked.length], [2, 0]);
});

test('a create is sent again only when the lost one cannot arrive any more, which a long limit of creates delays', async () => {
  let requests = 0;
  let lookups = 0;
  const lostOnce: FakeOptions = {
    declines: () => {
      requests += 1;
      return requests === 1 ? { kind: 'unknown', detail: 'a slow proxy' } : undefined;
    },
    recover: () => {
      lookups += 1;
      return { kind: 'not_created' };
    },
  };
  const upstream = upstreamOf('slow', lostOnce);
  const provider = { ...upstream.provider, submitTimeoutMs: 120_000 };
  const story = { upstreams: [{ ...upstream, provider }], betweenAttempts: passTime };
  const { end, calls, requests: counted } = await played(story);
  assert.deepEqual([end, calls], ['success', ['slow not_created', 'slow success']]);
  const searches = ['later', 'later', 'not_created'].map((outcome) => `lookup slow ${outcome}`);
  assert.deepEqual(counted, ['call slow unknown', ...searches, 'call slow accepted']);
  assert.deepEqual([requests, lookups], [2, 3], 'immediately, and after one and two minutes');
});

async function intended(taskId: string, ordinal: number, provider: string) {
  const [row, pool] = [{ taskId, ordinal }, `${provider}/model`];
  await reserveSlot(database.db, { ...row, accountId, pool, provider, limit: 10 });
  await intendReservedJob(database.db, { ...row, pool, configHash: 'b'.repeat(64), config: '{}' });
  return row;
}

const outcomesOf = async (taskId: string) =>
  (await listProviderJobs(database.db, taskId)).map(({ outcome }) => outcome);

test('a late response to a create that was sent again under the same name belongs to the repeated create', async () => {
  const { db } = database;
  for (const isNamed of [true, false]) {
    const provider = `late-${isNamed}`;
    const taskId = await acceptTestTask(db, accountId, taskParam('late'));
    const first = await intended(taskId, 1, provider);
    await endProviderJob(db, { ...first, outcome: 'not_created' });
    const second = await intended(taskId, 2, provider);
    const late = () => recordCreatedJob(db, { ...first, jobId: 'job', isNamed });
    assert.equal(await late(), isNamed ? 'repeated' : 'abandoned');
    assert.deepEqual(await outcomesOf(taskId), [isNamed ? 'not_created' : 'abandoned', undefined]);
    const jobId = isNamed ? 'job' : 'other';
    assert.equal(await recordCreatedJob(db, { ...second, jobId, isNamed }), 'recorded');
    assert.equal(await late(), isNamed ? 'repeated' : 'abandoned');
  }
});

test('a job that may still run is not ended by the video of an earlier one', async () => {
  const { db } = database;
  const taskId = await acceptTestTask(db, accountId, taskParam('two jobs'));
  const first = await intended(taskId, 1, 'restarted');
  await endProviderJob(db, { ...first, outcome: 'abandoned', isSettled: true });
  const second = await intended(taskId, 2, 'restarted');
  await recordCreatedJob(db, { ...second, jobId: 'job' });
  assert.equal(await succeedProviderJob(db, taskId), undefined);
  assert.deepEqual(await outcomesOf(taskId), ['abandoned', undefined]);
  await freeSlotAndRecordCost(db, second);
  assert.equal((await succeedProviderJob(db, taskId))?.outcome, 'success');
});

test('a task that ends after its slot was reserved gets no job', async () => {
  const { db } = database;
  const taskId = await acceptTestTask(db, accountId, taskParam('ended'));
  const row = { taskId, ordinal: 1, pool: 'ended/model' };
  assert.equal((await reserveSlot(db, { ...row, accountId, provider: 'ended', limit: 1 })).kind, 'granted');
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  assert.equal(await intendReservedJob(db, { ...row, configHash: 'b'.repeat(64), config: '{}' }), undefined);
  assert.equal(await intendOwnMachineJob(db, { taskId, ordinal: 2, provider: 'preview', jobId: taskId }), undefined);
});

test('a lost create that was given up stays a rival of others, because its job may be the one in the list', async () => {
  const { db } = database;
  const [one, other] = [
    await acceptTestTask(db, accountId, taskParam('rivals')),
    await acceptTestTask(db, accountId, taskParam('rivals')),
  ];
  const given = await intended(one, 1, 'listed');
  await intended(other, 1, 'listed');
  await endProviderJob(db, { ...given, outcome: 'abandoned', isSettled: true });
  const lost = { pool: 'listed/model', taskId: other, ordinal: 1, intendedAt: Date.now() };
  assert.deepEqual(await countOtherUnansweredCreates(db, lost), { rivals: 1 });
  const [early, late] = [-11, 60].map((minutes) => ({ ...lost, intendedAt: lost.intendedAt - minutes * 60_000 }));
  assert.ok(early !== undefined && late !== undefined);
  assert.deepEqual(await countOtherUnansweredCreates(db, early), { rivals: 0 }, 'its job is older than this create');
  assert.deepEqual(await countOtherUnansweredCreates(db, late), { rivals: 1 }, 'this create was lost an hour before');
  await recordCreatedJob(db, { ...given, jobId: 'known' });
  assert.deepEqual(await countOtherUnansweredCreates(db, lost), { rivals: 0 });
});

test('a job that arrives after its request was abandoned is the last one, unless the operator allows another', async () => {
  for (const onLostJob of ['fail', 'resubmit'] as const) {
    renameProviders();
    const upstream = upstreamOf('late');
    const [pool, provider] = [`${upstream.provider.name}/model`, upstream.provider.name];
    const taskId = await acceptTestTask(database.db, accountId, taskParam('late'));
    const row = { taskId, ordinal: 1 };
    await reserveSlot(database.db, { ...row, accountId, pool, provider, limit: 1 });
    await intendReservedJob(database.db, { ...row, pool, configHash: 'b'.repeat(64), config: '{}' });
    await endProviderJob(database.db, { ...row, outcome: 'not_created' });
    // The response arrives late, at a worker that Temporal has replaced, which stops the job.
    assert.equal(await recordCreatedJob(database.db, { ...row, jobId: 'late' }), 'abandoned');
    await recordLeftoverJobEnd(database.db, { ...row, outcome: 'abandoned' });
    const world = worldOf({ upstreams: [upstream], terms: { onLostJob } });
    await playTask({ next: () => world }, { taskId, betweenAttempts: noop });
    const task = await findTask(database.db, taskId);
    const [end, requests] = onLostJob === 'fail' ? ['provider_unavailable', 0] : ['success', 1];
    assert.deepEqual([task?.failure?.failCode ?? task?.state, upstream.asked.length], [end, requests]);
  }
});

for (const onLostJob of ['fail', 'resubmit'] as const) {
  test(`a video that an upstream uploaded before it lost the job is delivered without a second job: ${onLostJob}`, async () => {
    const upstream = upstreamOf('uploads');
    const change = (parts: WorkerParts): WorkerParts => {
      const providers = providersOf([uploadingBy(upstream, parts)], () => ({ onLostJob }));
      const lost = (open: ProviderWithTermsAndPoller | undefined) =>
        open && { ...open, poller: { follow: async () => ({ state: 'lost' }) as const } };
      return {
        ...parts,
        providers: {
          ...providers,
          ofEntry: (entry) => lost(providers.ofEntry(entry)),
          ofJob: (job) => lost(providers.ofJob(job)),
        },
      };
    };
    const { end, calls } = await played({ upstreams: [upstream], change });
    assert.deepEqual([end, calls], ['success', ['uploads success']]);
  });
}

test('a video that an upstream uploaded is delivered although the upstream loses the job before it says so', async () => {
  const upstream = upstreamOf('uploads', { lostVideos: 1 });
  const change = (parts: WorkerParts): WorkerParts => ({
    ...parts,
    providers: providersOf([uploadingBy(upstream, parts)], () => ({ onLostJob: 'resubmit' })),
  });
  const { end, calls } = await played({ upstreams: [upstream], change });
  assert.deepEqual([end, calls, upstream.jobs.length], ['success', ['uploads success'], 1]);
});

/** A provider that writes the video into our store when it accepts the job. */
function uploadingBy({ provider }: FakeUpstream, { media }: WorkerParts): PolledProvider {
  return {
    ...provider,
    uploads: true,
    submit: async (request, signal) => {
      const clip = join(folder, `clip-${request.taskId}`);
      await mkdir(clip);
      const { path } = await copyInstantClip(clip);
      await media.put(upstreamUploadKeyOf(request.taskId, request.jobKey), path);
      return await provider.submit(request, signal);
    },
  };
}

test('what an upstream responded to a create that made no known job is recorded for operators, beside the result of the lookups', async () => {
  const detail = 'HTTP 500: {"error":"no such workflow"}';
  const upstream = upstreamOf('first', {
    declines: () => ({ kind: 'unknown', detail }),
    recover: () => ({ kind: 'unknown', detail: '0 jobs could be this one' }),
  });
  const { end, taskId, lines } = await played({ upstreams: [upstream], betweenAttempts: passTime });
  const [job] = await listProviderJobs(database.db, taskId);
  assert.equal(end, 'provider_unavailable');
  assert.equal(job?.detail, `create: ${detail}\nlookup: 0 jobs could be this one`);
  const about = { taskId, ordinal: 1, provider: upstream.provider.name };
  assert.deepEqual(lines, [
    { level: 40, ...about, detail, msg: 'response to a create lost' },
    { level: 50, ...about, detail: job.detail, msg: 'the response of the provider was lost' },
    { level: 30, taskId, state: 'fail', failCode: end, msg: 'task ended' },
  ]);
});

test('a video at an address that is not allowed ends its task at once, and operators read the address', async () => {
  const upstream = upstreamOf('first');
  const result: PolledProvider['result'] = () => Promise.reject(new OutboundError('blocked', '10.0.0.7 is private'));
  const { end, taskId, lines } = await played({
    upstreams: [{ ...upstream, provider: { ...upstream.provider, result } }],
  });
  const [job] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([end, job?.outcome], ['result_invalid', 'fail']);
  const detail = 'the result is at an address that is not allowed: 10.0.0.7 is private; IMAGE_ALLOW can allow it';
  assert.equal(job?.detail, detail);
  const about = { taskId, provider: upstream.provider.name };
  assert.deepEqual(lines[0], { level: 50, ...about, detail, msg: 'paid video not fetched' });
});
