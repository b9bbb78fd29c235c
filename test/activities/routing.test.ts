import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { validate, version } from 'uuid';
import type { ActivityDeps } from '../../activities/deps.ts';
import { incomingKeyOf } from '../../activities/task-files.ts';
import type { CatalogueModel } from '../../src/models/catalogue/models.ts';
import type { PolledProvider } from '../../src/providers/contract.ts';
import { copyInstantClip } from '../../src/providers/preview/preview-provider.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { reserveSlot } from '../../src/providers/slots.ts';
import { intendReservedJob, recordProviderJob } from '../../src/providers/job-creates.ts';
import { endProviderJob, settleProviderJob } from '../../src/providers/job-ends.ts';
import { listPools } from '../../src/providers/provider-pools.ts';
import { findTask } from '../../src/tasks/tasks.ts';
import { type FakeTerms, providersOf } from '../support/fake-providers.ts';
import { playTask } from '../support/play-task.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import type { FakeOptions } from '../support/fake-upstream.ts';
import {
  accountId,
  database,
  folder,
  noop,
  passTime,
  played,
  renameProviders,
  upstreamOf,
  worldOf,
} from './routing-stage.ts';

// The choice of the next provider, and the end of a task, after each outcome of a job.

const busy = () => ({ kind: 'not_accepted', reason: 'busy', detail: '429' }) as const;
const outOfMemory = { kind: 'upstream', detail: 'out of memory' } as const;

test('a provider that certainly made no job is followed by the next one, which receives one request', async () => {
  for (const declines of [busy, () => ({ kind: 'refused', error: { kind: 'input', detail: '' } }) as const]) {
    renameProviders();
    const [first, second] = [upstreamOf('first', { declines }), upstreamOf('second')];
    const { end, calls } = await played({ upstreams: [first, second] });
    assert.equal(end, 'success');
    assert.deepEqual(calls, [`first ${declines === busy ? 'not_created' : 'refused'}`, 'second success']);
    assert.deepEqual([first.asked.length, second.asked.length], [1, 1]);
  }
});

test('the only provider is retried after its cooldown, under the same name, and not before', async () => {
  let refusals = 0;
  const only = upstreamOf('only', { declines: () => ((refusals += 1) <= 2 ? busy() : undefined) });
  const requestsBefore: number[] = [];
  const betweenAttempts = async () => {
    requestsBefore.push(only.asked.length);
    if (requestsBefore.length % 2 === 0) await passTime();
    else await holdTime();
  };
  const { end, calls, taskId } = await played({ upstreams: [only], betweenAttempts });
  assert.deepEqual([end, calls], ['success', ['only not_created', 'only not_created', 'only success']]);
  assert.deepEqual(requestsBefore, [1, 1, 2, 2]);
  assert.deepEqual(
    only.jobs.map(({ jobKey }) => jobKey),
    [taskId],
  );
});

test('a content rejection of the create or the job ends the task without another provider', async () => {
  const content = { kind: 'content', detail: 'a face' } as const;
  for (const options of [{ declines: () => ({ kind: 'refused', error: content }) as const }, { fault: content }]) {
    renameProviders();
    const [first, second] = [upstreamOf('first', options), upstreamOf('second')];
    const { end, calls } = await played({ upstreams: [first, second], terms: { failedJobs: 'free' } });
    assert.deepEqual([end, calls, second.asked.length], ['content_rejected', ['first fail'], 0]);
  }
});

test('a task that every provider refuses is rejected', async () => {
  const declines = () => ({ kind: 'refused', error: { kind: 'input', detail: 'no 7 seconds' } }) as const;
  const { end, calls } = await played({ upstreams: [upstreamOf('a', { declines }), upstreamOf('b', { declines })] });
  assert.deepEqual([end, calls], ['provider_rejected', ['a refused', 'b refused']]);
});

test('a lost response ends the task without another provider, and the cost is unknown', async () => {
  const lost: FakeOptions = { losesAnswers: true, recover: () => ({ kind: 'unknown', detail: 'no list' }) };
  const [first, second] = [upstreamOf('first', lost), upstreamOf('second')];
  const cost = { currency: 'USD', perJob: 5 } as const;
  const { end, calls, rows } = await played({ upstreams: [first, second], terms: { cost } });
  assert.deepEqual([end, calls, second.asked.length], ['provider_unavailable', ['first abandoned'], 0]);
  assert.deepEqual([rows[0]?.costBasis, rows[0]?.costMicros], ['unknown', undefined]);
});

test('a lost job is searched by the prompt that the provider received, in its spelling of image references', async () => {
  const upstream = upstreamOf('listing', { losesAnswers: true });
  const prompts: string[] = [];
  const { provider: original } = upstream;
  const provider: PolledProvider = {
    ...original,
    submit: async (request, signal) => {
      prompts.push(request.input.prompt);
      return await original.submit(request, signal);
    },
    recover: async (lost, signal) => {
      prompts.push(lost.input.prompt);
      return await original.recover(lost, signal);
    },
  };
  const world = worldOf({ upstreams: [{ ...upstream, provider }] });
  const { ofEntry, ofJob } = world.providers;
  const spelling =
    <Key>(open: (key: Key) => OpenProvider | undefined) =>
    (key: Key) => {
      const found = open(key);
      return found && { ...found, imageReference: '<img{n}>' };
    };
  const providers = { ofEntry: spelling(ofEntry), ofJob: spelling(ofJob) };
  const param = taskParam('a fox like @Image1', { imageUrls: ['https://client.example/1.jpg'] });
  const taskId = await acceptTestTask(database.db, accountId, param);
  await playTask({ next: () => ({ ...world, providers }) }, { taskId, betweenAttempts: noop });
  assert.equal((await findTask(database.db, taskId))?.state, 'success');
  assert.deepEqual(prompts, ['a fox like <img1>', 'a fox like <img1>']);
});

test('if the operator allows it, a lost job is made again at the same provider, twice at most, under new names', async () => {
  const lost: FakeOptions = { losesAnswers: true, recover: () => ({ kind: 'unknown', detail: 'no list' }) };
  const [first, second] = [upstreamOf('first', lost), upstreamOf('second')];
  const story = {
    upstreams: [first, second],
    terms: { onLostJob: 'resubmit' },
    limit: 1,
    betweenAttempts: passTime,
  } as const;
  const { end, calls, taskId } = await played(story);
  assert.deepEqual(calls, ['first abandoned', 'first abandoned', 'first abandoned']);
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
    assert.equal(await recordProviderJob(database.db, { ...row, jobId: 'late' }), false);
    await settleProviderJob(database.db, { ...row, outcome: 'abandoned' });
    const world = worldOf({ upstreams: [upstream], terms: { onLostJob } });
    await playTask({ next: () => world }, { taskId, betweenAttempts: noop });
    const task = await findTask(database.db, taskId);
    const [end, requests] = onLostJob === 'fail' ? ['provider_unavailable', 0] : ['success', 1];
    assert.deepEqual([task?.failure?.failCode ?? task?.state, upstream.asked.length], [end, requests]);
  }
});

test('a failed job leads to the next provider only where failures are free', async () => {
  for (const failedJobs of ['free', 'billed'] as const) {
    renameProviders();
    const [first, second] = [upstreamOf('first', { fault: outOfMemory }), upstreamOf('second')];
    const cost = { currency: 'USD', perJob: 5_000_000 } as const;
    const upstreams = [first, second];
    const { end, calls, rows } = await played({ upstreams, terms: { failedJobs, cost }, change: priced(cost) });
    assert.deepEqual(
      [end, calls],
      failedJobs === 'free' ? ['success', ['first fail', 'second success']] : ['provider_rejected', ['first fail']],
    );
    assert.equal(rows[0]?.costMicros, failedJobs === 'free' ? 0 : 5_000_000);
  }
});

test('a video that its upstream refuses is made once more at the same provider, where the operator allows it and refused jobs are free', async () => {
  const refused = { kind: 'content', about: 'output', detail: 'The output may be sensitive.' } as const;
  const once: FakeOptions = { fault: (number) => (number === 1 ? refused : undefined) };
  const repeats = { failedJobs: 'free', onRefusedOutput: 'resubmit' } as const;
  const cost = { currency: 'USD', perJob: 5_000_000 } as const;
  const firstFails = { end: 'content_rejected', calls: ['first fail'] };
  const cases: readonly [FakeOptions, FakeTerms, { readonly end: string; readonly calls: readonly string[] }][] = [
    [once, { failedJobs: 'free' }, firstFails],
    [once, { ...repeats, failedJobs: 'billed' }, firstFails],
    [once, repeats, { end: 'success', calls: ['first fail', 'first success'] }],
    [{ fault: refused }, repeats, { end: 'content_rejected', calls: ['first fail', 'first fail'] }],
    [{ fault: { ...refused, about: 'prompt' } }, repeats, firstFails],
    [
      { fault: (number) => (number === 1 ? refused : outOfMemory) },
      repeats,
      { end: 'success', calls: ['first fail', 'first fail', 'second success'] },
    ],
  ];
  for (const [options, terms, expected] of cases) {
    renameProviders();
    const upstreams = [upstreamOf('first', options), upstreamOf('second')];
    const story = { upstreams, terms: { ...terms, cost }, limit: 1, change: priced(cost) };
    const { end, calls, rows, taskId } = await played(story);
    assert.deepEqual({ end, calls }, expected);
    const names = upstreams[0]?.jobs.map(({ jobKey }) => jobKey) ?? [];
    assert.deepEqual([names[0], new Set(names).size], [taskId, names.length]);
    if (terms.failedJobs === 'billed') continue;
    const paid = rows.filter(({ costMicros }) => (costMicros ?? 0) > 0).map(({ outcome }) => outcome);
    assert.deepEqual(paid, end === 'success' ? ['success'] : []);
  }
});

test('the second job of a refused video waits for its provider, and does not go to another one', async () => {
  const refused = { kind: 'content', about: 'output', detail: 'The output may be sensitive.' } as const;
  let requests = 0;
  const busyOnce: FakeOptions = {
    fault: (number) => (number === 1 ? refused : undefined),
    declines: () => {
      requests += 1;
      return requests === 2 ? { kind: 'not_accepted', reason: 'busy', detail: 'try later' } : undefined;
    },
  };
  const upstreams = [upstreamOf('first', busyOnce), upstreamOf('second')];
  const terms = { failedJobs: 'free', onRefusedOutput: 'resubmit' } as const;
  const { end, calls } = await played({ upstreams, terms, betweenAttempts: passTime });
  assert.deepEqual([end, calls], ['success', ['first fail', 'first not_created', 'first success']]);
});

for (const onLostJob of ['fail', 'resubmit'] as const) {
  test(`a video that an upstream uploaded before it lost the job is delivered without a second job: ${onLostJob}`, async () => {
    const upstream = upstreamOf('uploads');
    const uploading = (deps: ActivityDeps): PolledProvider => ({
      ...upstream.provider,
      uploads: true,
      submit: async (request, signal) => {
        const clip = join(folder, `clip-${request.taskId}`);
        await mkdir(clip);
        const { path } = await copyInstantClip(clip);
        await deps.media.put(incomingKeyOf(request.taskId, request.jobKey), path);
        return await upstream.provider.submit(request, signal);
      },
    });
    const change = (deps: ActivityDeps): ActivityDeps => {
      const providers = providersOf([uploading(deps)], () => ({ onLostJob }));
      const lost = (open: OpenProvider | undefined) =>
        open && { ...open, follow: async () => ({ state: 'lost' }) as const };
      return {
        ...deps,
        providers: { ofEntry: (entry) => lost(providers.ofEntry(entry)), ofJob: (job) => lost(providers.ofJob(job)) },
      };
    };
    const { end, calls } = await played({ upstreams: [upstream], change });
    assert.deepEqual([end, calls], ['success', ['uploads success']]);
  });
}

/** Adds a cost to the entries of the catalogue. */
function priced(cost: CatalogueModel['tiers'][number][number]['cost']) {
  return (deps: ActivityDeps): ActivityDeps => {
    const models = [...deps.models.values()].map((model) => ({
      ...model,
      tiers: model.tiers.map((tier) => tier.map((entry) => ({ ...entry, ...(cost && { cost }) }))),
    }));
    return { ...deps, models: new Map(models.map((model) => [model.model, model])) };
  };
}

/** Prevents the end of cooldowns on a slow machine. */
async function holdTime(): Promise<void> {
  const text = `update provider_pools set cooling_until = now() + interval '1 hour' where cooling_until is not null`;
  await database.db.run({ name: 'test-no-time', text, plannedAnew: true });
}
