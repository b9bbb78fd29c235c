import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import type { ProviderWithTermsAndPoller } from '../../../src/providers/open-providers.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import type { FakeTerms } from '../../support/tasks/fake-providers.ts';
import { playTask } from '../../support/tasks/play-task.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import type { FakeOptions } from '../../support/tasks/fake-upstream.ts';
import {
  accountId,
  database,
  noop,
  passTime,
  played,
  prepareGenerations,
  priced,
  renameProviders,
  upstreamOf,
  worldOf,
} from './routing-stage.ts';

prepareGenerations();

// The choice of the next provider, and the end of a task, after each outcome of a job.

const busy = () => ({ kind: 'not_accepted', reason: 'busy', detail: '429' }) as const;
const outOfMemory = { kind: 'upstream', detail: 'out of memory' } as const;

test('a provider that certainly made no job is followed by the next one, which receives one request', async () => {
  for (const declines of [busy, () => ({ kind: 'refused', error: { kind: 'input', detail: '' } }) as const]) {
    renameProviders();
    const [first, second] = [upstreamOf('first', { declines }), upstreamOf('second')];
    const cost = { currency: 'USD', perJob: 5_000_000 } as const;
    const story = { upstreams: [first, second], terms: { cost }, change: priced(cost) };
    const { end, calls, rows, requests, lines, taskId } = await played(story);
    assert.equal(end, 'success');
    assert.deepEqual(
      rows.map(({ costMicros }) => costMicros),
      [0, 5_000_000],
    );
    assert.deepEqual(calls, [`first ${declines === busy ? 'not_created' : 'refused'}`, 'second success']);
    assert.deepEqual(requests, [`call first ${declines === busy ? 'busy' : 'refused'}`, 'call second accepted']);
    assert.deepEqual([first.asked.length, second.asked.length], [1, 1]);
    const about = { level: 30, taskId, ordinal: 1, provider: first.provider.name };
    const refused = { ...about, error: { kind: 'input', detail: '' }, msg: 'job refused' };
    const line = declines === busy ? { ...about, reason: 'busy', detail: '429', msg: 'job not accepted' } : refused;
    assert.deepEqual(lines, [line]);
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
  const { end, calls, rows, requests } = await played({ upstreams: [first, second], terms: { cost } });
  assert.deepEqual([end, calls, second.asked.length], ['provider_unavailable', ['first abandoned'], 0]);
  assert.deepEqual(requests, ['call first unknown', 'lookup first unknown']);
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
  const { ofEntry, ofJob, test: testProvider } = world.providers;
  const spelling =
    <Key>(open: (key: Key) => ProviderWithTermsAndPoller | undefined) =>
    (key: Key) => {
      const found = open(key);
      return found && { ...found, imageReference: '<img{n}>' };
    };
  const providers = { ofEntry: spelling(ofEntry), ofJob: spelling(ofJob), test: testProvider };
  const param = taskParam('a fox like @Image1', { imageUrls: ['https://client.example/1.jpg'] });
  const taskId = await acceptTestTask(database.db, accountId, param);
  await playTask({ next: () => ({ ...world, providers }) }, { taskId, betweenAttempts: noop });
  assert.equal((await findTask(database.db, taskId))?.state, 'success');
  assert.deepEqual(prompts, ['a fox like <img1>', 'a fox like <img1>']);
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

test('a failed job that its upstream reports as paid is the last one, although failures are declared free there', async () => {
  for (const micros of [70_000, 0]) {
    renameProviders();
    const costOfFailure = { micros, currency: 'USD', basis: 'reported' } as const;
    const upstreams = [upstreamOf('first', { fault: outOfMemory, costOfFailure }), upstreamOf('second')];
    const { end, calls, rows } = await played({ upstreams, terms: { failedJobs: 'free' } });
    const last = ['provider_rejected', ['first fail']];
    assert.deepEqual([end, calls], micros > 0 ? last : ['success', ['first fail', 'second success']]);
    assert.deepEqual([rows[0]?.costMicros, rows[0]?.costBasis], [micros, 'reported']);
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

/** Adds a cost to the entries of the catalogue. */
/** Prevents the end of cooldowns on a slow machine. */
async function holdTime(): Promise<void> {
  const text = `update provider_pools set cooling_until = now() + interval '1 hour' where cooling_until is not null`;
  await database.db.run({ name: 'test-no-time', text, plannedAnew: true });
}
