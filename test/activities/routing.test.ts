import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { validate, version } from 'uuid';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createGenerationActivities } from '../../activities/index.ts';
import { incomingKeyOf } from '../../activities/task-files.ts';
import type { CatalogueModel } from '../../src/domain/catalogue/models.ts';
import type { Fault, HeldProvider, PolledProvider } from '../../src/providers/contract.ts';
import { copyInstantClip } from '../../src/providers/preview/preview-provider.ts';
import type { OpenProvider } from '../../src/providers/registry.ts';
import { createAccount } from '../../src/stores/accounts.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { reserveSlot } from '../../src/stores/slots.ts';
import {
  endProviderJob,
  intendReservedJob,
  listProviderJobs,
  recordProviderJob,
  settleProviderJob,
} from '../../src/stores/provider-jobs.ts';
import { listPools, setProviderSwitchAs } from '../../src/stores/provider-pools.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { activityDeps } from '../support/activity-deps.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventsInto } from '../support/events.ts';
import { type FakeTerms, heldProvider, modelsAt, providersOf } from '../support/fake-providers.ts';
import { createFakeUpstream, type FakeOptions, type FakeUpstream } from '../support/fake-upstream.ts';
import { type PlayedTask, playTask } from '../support/play-task.ts';
import { silentActivity } from '../support/silent-activity.ts';
import { acceptTestTask, taskParam } from '../support/tasks.ts';
import { createTestDeadlines } from '../support/test-deadlines.ts';
import { waitFor } from '../support/wait-for.ts';

// Which provider is asked after what, and what a task comes to. Each test has providers of its own.

let database: TestDatabase;
let folder: string;
let accountId: string;
let tests = 0;
before(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'videogen-routing-'));
  accountId = await createAccount(database.db, { name: 'routed', credits: 1_000_000 });
});
beforeEach(() => {
  tests += 1;
});
after(async () => {
  const violations = await auditLedger(database.db);
  await rm(folder, { recursive: true });
  await database.close();
  assert.deepEqual(violations, []);
});

const upstreamOf = (name: string, options: FakeOptions = {}) =>
  createFakeUpstream({ name: `${name}-${tests}`, ...options });

type Story = {
  readonly upstreams: readonly FakeUpstream[];
  readonly terms?: FakeTerms;
  readonly limit?: number;
  readonly change?: (deps: ActivityDeps) => ActivityDeps;
  readonly betweenAttempts?: PlayedTask['betweenAttempts'];
};

function worldOf({ upstreams, terms, limit = 100, change = (deps) => deps }: Story): ActivityDeps {
  const providers = providersOf(
    upstreams.map(({ provider }) => provider),
    () => terms,
  );
  const models = modelsAt(
    upstreams.map(({ provider }) => provider.name),
    { limit },
  );
  return change({ ...activityDeps(database.db, folder, upstreams), providers, models });
}

/** The end of a task at these upstreams, each a tier of its own; and what each of its calls came to. */
async function played(story: Story) {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('routed'));
  const world = worldOf(story);
  const { betweenAttempts = noTimePasses } = story;
  await playTask({ next: () => world }, { taskId, betweenAttempts });
  const task = await findTask(database.db, taskId);
  const rows = await listProviderJobs(database.db, taskId);
  const calls = rows.map(({ provider, outcome }) => `${provider.split('-')[0]} ${outcome}`);
  return { taskId, end: task?.failure?.failCode ?? task?.state, calls, rows };
}

async function noTimePasses(): Promise<void> {}

/** Cooldowns are over, and lost calls are old enough to be decided. */
async function timePasses(): Promise<void> {
  const run = (text: string) => database.db.run({ name: 'test-time', text, plannedAnew: true });
  await run(`update provider_pools set cooling_until = now() - interval '1 ms' where cooling_until is not null`);
  await run(`update provider_jobs set intended_at = intended_at - interval '61 s' where job_id is null`);
}

/** Cooldowns that have begun are not over, however slow the machine is. */
async function noTimeHasPassed(): Promise<void> {
  const text = `update provider_pools set cooling_until = now() + interval '1 hour' where cooling_until is not null`;
  await database.db.run({ name: 'test-no-time', text, plannedAnew: true });
}

const busy = () => ({ kind: 'not_accepted', reason: 'busy', detail: '429' }) as const;
const upstreamFault = { kind: 'upstream', detail: 'out of memory' } as const;

test('a provider that is surely not asked for this task gives way to the next one, which is asked once', async () => {
  for (const declines of [busy, () => ({ kind: 'refused', fault: { kind: 'input', detail: '' } }) as const]) {
    tests += 1;
    const [first, second] = [upstreamOf('first', { declines }), upstreamOf('second')];
    const { end, calls } = await played({ upstreams: [first, second] });
    assert.equal(end, 'success');
    assert.deepEqual(calls, [`first ${declines === busy ? 'not_created' : 'refused'}`, 'second success']);
    assert.deepEqual([first.asked.length, second.asked.length], [1, 1]);
  }
});

test('the only provider is asked again after its cooldown, under the same name, and not before', async () => {
  let refusals = 0;
  const only = upstreamOf('only', { declines: () => ((refusals += 1) <= 2 ? busy() : undefined) });
  const askedBefore: number[] = [];
  const betweenAttempts = async () => {
    askedBefore.push(only.asked.length);
    if (askedBefore.length % 2 === 0) await timePasses();
    else await noTimeHasPassed();
  };
  const { end, calls, taskId } = await played({ upstreams: [only], betweenAttempts });
  assert.deepEqual([end, calls], ['success', ['only not_created', 'only not_created', 'only success']]);
  assert.deepEqual(askedBefore, [1, 1, 2, 2]);
  assert.deepEqual(
    only.jobs.map(({ jobKey }) => jobKey),
    [taskId],
  );
});

test('a content refusal ends the task, at the create or in the job; nobody else is asked', async () => {
  const content = { kind: 'content', detail: 'a face' } as const;
  for (const options of [{ declines: () => ({ kind: 'refused', fault: content }) as const }, { fault: content }]) {
    tests += 1;
    const [first, second] = [upstreamOf('first', options), upstreamOf('second')];
    const { end, calls } = await played({ upstreams: [first, second], terms: { failedJobs: 'free' } });
    assert.deepEqual([end, calls, second.asked.length], ['content_rejected', ['first fail'], 0]);
  }
});

test('when every provider has refused the request the task is rejected', async () => {
  const declines = () => ({ kind: 'refused', fault: { kind: 'input', detail: 'no 7 seconds' } }) as const;
  const { end, calls } = await played({ upstreams: [upstreamOf('a', { declines }), upstreamOf('b', { declines })] });
  assert.deepEqual([end, calls], ['provider_rejected', ['a refused', 'b refused']]);
});

test('an answer that is lost for good ends the task: no other provider is asked, and its cost is unknown', async () => {
  const lost: FakeOptions = { losesAnswers: true, recover: () => ({ kind: 'unknown', detail: 'no list' }) };
  const [first, second] = [upstreamOf('first', lost), upstreamOf('second')];
  const cost = { currency: 'USD', perJob: 5 } as const;
  const { end, calls, rows } = await played({ upstreams: [first, second], terms: { cost } });
  assert.deepEqual([end, calls, second.asked.length], ['provider_unavailable', ['first abandoned'], 0]);
  assert.deepEqual([rows[0]?.costBasis, rows[0]?.costMicros], ['unknown', undefined]);
});

test('a lost job is looked for by the prompt that its provider was sent, with references to images in its spelling', async () => {
  const upstream = upstreamOf('listing', { losesAnswers: true });
  const prompts: string[] = [];
  const { provider: theirs } = upstream;
  const provider: PolledProvider = {
    ...theirs,
    submit: async (request, signal) => {
      prompts.push(request.input.prompt);
      return await theirs.submit(request, signal);
    },
    recover: async (lost, signal) => {
      prompts.push(lost.input.prompt);
      return await theirs.recover(lost, signal);
    },
  };
  const world = worldOf({ upstreams: [{ ...upstream, provider }] });
  const { ofEntry, ofJob } = world.providers;
  const spelling =
    <Asked>(open: (asked: Asked) => OpenProvider | undefined) =>
    (asked: Asked) => {
      const found = open(asked);
      return found && { ...found, imageReference: '<img{n}>' };
    };
  const providers = { ofEntry: spelling(ofEntry), ofJob: spelling(ofJob) };
  const param = taskParam('a fox like @Image1', { imageUrls: ['https://client.example/1.jpg'] });
  const taskId = await acceptTestTask(database.db, accountId, param);
  await playTask({ next: () => ({ ...world, providers }) }, { taskId, betweenAttempts: noTimePasses });
  assert.equal((await findTask(database.db, taskId))?.state, 'success');
  assert.deepEqual(prompts, ['a fox like <img1>', 'a fox like <img1>']);
});

test('where the operator allows it a lost job is made again at the same provider, twice at most, each under a new name', async () => {
  const lost: FakeOptions = { losesAnswers: true, recover: () => ({ kind: 'unknown', detail: 'no list' }) };
  const [first, second] = [upstreamOf('first', lost), upstreamOf('second')];
  const story = {
    upstreams: [first, second],
    terms: { onLostAnswer: 'resubmit' },
    limit: 1,
    betweenAttempts: timePasses,
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
    'the last is left to reconcile, the others gave their places back',
  );
});

test('a job that arrives after its call was given up is the last one, unless the operator allows another', async () => {
  for (const onLostAnswer of ['fail', 'resubmit'] as const) {
    tests += 1;
    const upstream = upstreamOf('late');
    const [pool, provider] = [`${upstream.provider.name}/model`, upstream.provider.name];
    const taskId = await acceptTestTask(database.db, accountId, taskParam('late'));
    const row = { taskId, ordinal: 1 };
    await reserveSlot(database.db, { ...row, accountId, pool, provider, limit: 1 });
    await intendReservedJob(database.db, { ...row, pool, configHash: 'b'.repeat(64), config: '{}' });
    await endProviderJob(database.db, { ...row, outcome: 'not_created' });
    // The worker that was taken for dead hears that its create was accepted after all, and stops the job.
    assert.equal(await recordProviderJob(database.db, { ...row, jobId: 'late' }), false);
    await settleProviderJob(database.db, { ...row, outcome: 'abandoned' });
    const world = worldOf({ upstreams: [upstream], terms: { onLostAnswer } });
    await playTask({ next: () => world }, { taskId, betweenAttempts: noTimePasses });
    const task = await findTask(database.db, taskId);
    const [end, asked] = onLostAnswer === 'fail' ? ['provider_unavailable', 0] : ['success', 1];
    assert.deepEqual([task?.failure?.failCode ?? task?.state, upstream.asked.length], [end, asked]);
  }
});

test('a failed job moves on only where failures are free, and costs nothing there', async () => {
  for (const failedJobs of ['free', 'billed'] as const) {
    tests += 1;
    const [first, second] = [upstreamOf('first', { fault: upstreamFault }), upstreamOf('second')];
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

test('a full provider is waited for, and not passed over; one that cools down is', async () => {
  const [first, second] = [upstreamOf('first', { instant: false }), upstreamOf('second')];
  const world = worldOf({ upstreams: [first, second], limit: 1 });
  const generate = (taskId: string) =>
    silentActivity({ workflowId: taskId }, () =>
      createGenerationActivities(world).generateVideo({ taskId, isRemote: true }),
    );
  const tasks = await Promise.all([1, 2].map(() => acceptTestTask(database.db, accountId, taskParam('full'))));
  const [holds, waits] = tasks;
  assert.ok(holds !== undefined && waits !== undefined);
  const holding = generate(holds);
  await waitFor('its job', () => first.jobs[0]);
  await assert.rejects(generate(waits), { type: 'waiting' });
  assert.equal((await findTask(database.db, waits))?.state, 'waiting', 'its deadline does not run');
  assert.equal(second.asked.length, 0);
  const text = `update provider_pools set failures = 1, cooling_until = now() + interval '1 hour' where provider = $1`;
  await database.db.run({ name: 'test-cools', text }, [first.provider.name]);
  await generate(waits);
  assert.deepEqual(second.asked, [waits]);
  first.finish();
  await holding;
});

test('a job whose upstream has another address now is asked about by nobody, until the deadline', async () => {
  const upstream = upstreamOf('moved', { instant: false });
  const stranger = { ...upstream.provider, status: () => assert.fail('asked a stranger') };
  const taskId = await acceptTestTask(database.db, accountId, taskParam('moved'));
  const deadlines = createTestDeadlines();
  const world = { ...worldOf({ upstreams: [upstream] }), startDeadline: deadlines.startDeadline };
  let lookups = 0;
  const ofJob = () => {
    lookups += 1;
    return undefined;
  };
  const later = { ...world, providers: { ...providersOf([stranger]), ofJob } };
  const stop = new AbortController();
  const first = { ...world, attempts: { begin: () => ({ signal: stop.signal, stop: () => {} }) } };
  const order = { taskId, isRemote: true };
  const attempt = silentActivity({ workflowId: taskId }, () => createGenerationActivities(first).generateVideo(order));
  await waitFor('its job', () => upstream.jobs[0]);
  stop.abort(new Error('the worker stops'));
  await assert.rejects(attempt);
  const next = silentActivity({ workflowId: taskId }, () => createGenerationActivities(later).generateVideo(order));
  const rejected = assert.rejects(next, { type: 'provider_unavailable' });
  await waitFor('the first lookup of its provider', () => (lookups > 0 ? true : undefined));
  assert.equal(deadlines.pass(), 1);
  await rejected;
  const [row] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([row?.outcome, row?.failure?.failCode], ['abandoned', 'provider_unavailable']);
});

test('nothing is asked of a provider that is switched off, and its job goes on once it is on again', async () => {
  const upstream = upstreamOf('switched', { instant: false });
  const provider = upstream.provider.name;
  const set = (state: 'off' | 'enabled') =>
    setProviderSwitchAs(database.db, { kind: 'command_line', name: 'ada' }, { provider, state, reason: 'a test' });
  const polls: number[] = [];
  const counted: PolledProvider = {
    ...upstream.provider,
    status: (jobs, signal) => {
      polls.push(jobs.length);
      return upstream.provider.status(jobs, signal);
    },
  };
  const off = new AbortController();
  const change = (deps: ActivityDeps): ActivityDeps => ({
    ...deps,
    providers: providersOf([counted]),
    switches: { ...deps.switches, watch: () => ({ signal: off.signal, stop: () => {} }) },
  });
  const world = worldOf({ upstreams: [upstream], change });
  const taskId = await acceptTestTask(database.db, accountId, taskParam('switched'));
  const order = { taskId, isRemote: true };
  const stop = new AbortController();
  const first = { ...world, attempts: { begin: () => ({ signal: stop.signal, stop: () => {} }) } };
  const attempt = silentActivity({ workflowId: taskId }, () => createGenerationActivities(first).generateVideo(order));
  await waitFor('a poll', () => polls[0]);
  await set('off');
  off.abort();
  const looked = polls.length;
  stop.abort(new Error('the worker stops'));
  await assert.rejects(attempt);
  await assert.rejects(
    silentActivity({ workflowId: taskId }, () => createGenerationActivities(first).generateVideo(order)),
    { type: 'provider_unavailable' },
  );
  assert.equal(polls.length, looked);
  assert.equal(upstream.jobs[0]?.state, 'running', 'it was not cancelled either');
  await set('enabled');
  upstream.finish();
  const staged = await silentActivity({ workflowId: taskId }, () =>
    createGenerationActivities({ ...world, switches: activityDeps(database.db, folder, []).switches }).generateVideo(
      order,
    ),
  );
  assert.ok(staged.key.includes(taskId));
});

/** Entries that say what a job costs, from which the estimate is made. */
function priced(cost: CatalogueModel['tiers'][number][number]['cost']) {
  return (deps: ActivityDeps): ActivityDeps => {
    const models = [...deps.models.values()].map((model) => ({
      ...model,
      tiers: model.tiers.map((tier) => tier.map((entry) => ({ ...entry, ...(cost && { cost }) }))),
    }));
    return { ...deps, models: new Map(models.map((model) => [model.model, model])) };
  };
}

test('a run that breaks off is repeated under the same name, three times at most, and then the task is refunded', async () => {
  const names: string[] = [];
  const provider: HeldProvider = {
    ...heldProvider({ onRun: () => {} }),
    name: `held-${tests}`,
    runs: 'held',
    run: async ({ jobKey }) => {
      names.push(jobKey);
      return { kind: 'lost', detail: 'socket hang up' };
    },
  };
  const change = (deps: ActivityDeps) => ({
    ...deps,
    providers: providersOf([provider]),
    models: modelsAt([provider.name]),
  });
  const { end, calls, taskId } = await played({ upstreams: [], change });
  assert.deepEqual([end, calls], ['provider_unavailable', ['held abandoned']]);
  assert.deepEqual(names, [taskId, taskId, taskId]);
});

for (const onLostAnswer of ['fail', 'resubmit'] as const) {
  test(`a video that an upstream uploaded before it lost the job is delivered, and no second job is made: ${onLostAnswer}`, async () => {
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
      const providers = providersOf([uploading(deps)], () => ({ onLostAnswer }));
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

test('each cause of a failure has its own message', async () => {
  const content = (about?: 'prompt' | 'image' | 'output') =>
    ({ kind: 'content', detail: '', ...(about && { about }) }) as const;
  const refuses = (fault: Fault) => ({ declines: () => ({ kind: 'refused', fault }) as const });
  const cases: readonly (readonly [FakeOptions, 'billed' | 'free', string])[] = [
    [refuses(content()), 'billed', 'The prompt was rejected by the content policy.'],
    [{ fault: content('image') }, 'billed', 'A reference image was rejected by the content policy.'],
    [{ fault: content('output') }, 'free', 'The generated video was rejected by the content policy.'],
    [{ fault: content() }, 'billed', 'The request was rejected by the content policy.'],
    [{ fault: upstreamFault }, 'billed', 'The video model failed while it made this video.'],
    [{ fault: upstreamFault }, 'free', 'The video model failed while it made this video.'],
    [refuses({ kind: 'input', detail: '' }), 'free', 'The video provider does not accept this request.'],
  ];
  for (const [options, failedJobs, message] of cases) {
    tests += 1;
    const { taskId } = await played({ upstreams: [upstreamOf('only', options)], terms: { failedJobs } });
    assert.equal((await findTask(database.db, taskId))?.failure?.failMsg, message);
  }
});

test('a task is queuing until an upstream has made a job for it, and generating from then on', async () => {
  let isDown = true;
  const unreachable = { kind: 'not_accepted', reason: 'unreachable', detail: 'ECONNREFUSED' } as const;
  const upstream = upstreamOf('down', { declines: () => (isDown ? unreachable : undefined), instant: false });
  const states: unknown[] = [];
  const look = async () => {
    const [row] = await database.db.run<{ state: string; isBegun: boolean; stage: string }>({
      name: 'test-state',
      text: `select state, generation_started_at is not null as "isBegun" from tasks order by created_at desc limit 1`,
      plannedAnew: true,
    });
    states.push([row?.state, row?.isBegun]);
  };
  const betweenAttempts = async () => {
    await look();
    isDown = states.length < 2;
    await timePasses();
  };
  const waits: number[] = [];
  const change = (deps: ActivityDeps): ActivityDeps => {
    const events = eventsInto('stage_ended', ({ stage }) => void (stage === 'queue_wait' && waits.push(states.length)));
    return { ...deps, events };
  };
  const status: PolledProvider['status'] = async (jobs, signal) => {
    await look();
    upstream.finish();
    return await upstream.provider.status(jobs, signal);
  };
  const asked = { ...upstream, provider: { ...upstream.provider, status } };
  const { end } = await played({ upstreams: [asked], betweenAttempts, change });
  assert.equal(end, 'success');
  assert.deepEqual(states.slice(0, 3), [
    ['queuing', false],
    ['queuing', false],
    ['generating', true],
  ]);
  assert.deepEqual(waits, [2], 'the wait in the queue is measured once, until the job was made');
});

test('a task whose job lives in a connection is queuing until the provider reports that the job has started', async () => {
  const states: unknown[] = [];
  const stateOf = async (taskId: string) => (await findTask(database.db, taskId))?.state;
  const provider: HeldProvider = {
    ...heldProvider({ onRun: () => {} }),
    name: `held-${tests}`,
    runs: 'held',
    run: async ({ taskId }, report, { workFolder, onStarted }) => {
      report(50);
      states.push(await stateOf(taskId));
      onStarted();
      states.push(
        await waitFor('the start', async () => ((await stateOf(taskId)) === 'generating' ? 'generating' : undefined)),
      );
      return { kind: 'video', video: await copyInstantClip(workFolder) };
    },
  };
  const change = (deps: ActivityDeps) => ({
    ...deps,
    providers: providersOf([provider]),
    models: modelsAt([provider.name]),
  });
  assert.equal((await played({ upstreams: [], change })).end, 'success');
  assert.deepEqual(states, ['queuing', 'generating']);
});

test('a task of our own machine waits in the queue while the operator has switched the preview off or drains it', async () => {
  const actor = { kind: 'command_line', name: 'ada' } as const;
  const set = (state: 'enabled' | 'draining' | 'off') =>
    setProviderSwitchAs(database.db, actor, { provider: 'preview', state, reason: 'a test' });
  let runs = 0;
  const provider = heldProvider({ onRun: () => (runs += 1) });
  const change = (deps: ActivityDeps): ActivityDeps => ({
    ...deps,
    providers: providersOf([provider]),
    models: modelsAt([provider.name], { isRemote: false }),
  });
  const seen: unknown[] = [];
  const betweenAttempts = async () => {
    const text = 'select state from tasks order by created_at desc limit 1';
    const [row] = await database.db.run<{ state: string }>({ name: 'test-state-here', text, plannedAnew: true });
    seen.push([row?.state, runs]);
    await set(seen.length === 1 ? 'draining' : 'enabled');
  };
  await set('off');
  const { end } = await played({ upstreams: [], change, betweenAttempts });
  assert.deepEqual([end, runs], ['success', 1]);
  assert.deepEqual(seen, [
    ['queuing', 0],
    ['queuing', 0],
  ]);
});
