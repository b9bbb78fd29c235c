import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { v5 as uuidv5 } from 'uuid';
import { createAccount } from '../../../src/credits/open-account.ts';
import { providerFailures } from '../../../src/tasks/jobs/task-failures-of-jobs.ts';
import type { JobOutcome } from '../../../src/tasks/jobs/job-states.ts';
import { asRunningJob } from '../../../src/tasks/jobs/job-of-attempt-types.ts';
import { findOpenOrReserveJob, findDisabledMachinePause } from '../../../src/tasks/jobs/next-job.ts';
import { startCooldown } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import type { ProviderJob } from '../../../src/tasks/jobs/provider-jobs.ts';
import { saveTaskTiers } from '../../../src/tasks/jobs/stored-task-tiers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { heldProvider, modelsAt, providersOf } from '../../support/tasks/fake-providers.ts';
import { createFakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

// The next job of a task, from its rows. Its providers have no slots; test/tasks/jobs/slots.test.ts has those.

let database: TestDatabase;
let accountId: string;
let taskId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'test', credits: 1_000 });
  taskId = await acceptTestTask(database.db, accountId, taskParam('routed'));
});
after(() => database.close());

type Story = {
  /** The providers of the model, each a tier of its own. */
  readonly tiers?: readonly string[];
  readonly onLostJob?: 'fail' | 'resubmit';
  readonly disabled?: readonly string[];
  readonly models?: ReturnType<typeof modelsAt>;
};

/** A row in short: its provider, its outcome, and what differs from the usual one. */
type Row = readonly [provider: string, outcome: JobOutcome | undefined, changed?: Partial<ProviderJob>];

function rowOf([provider, outcome, changed]: Row, index: number): ProviderJob {
  const none = { pool: undefined, jobId: undefined, handle: undefined, sentInput: undefined, config: undefined };
  const untimed = { intendedAt: 1, submittedAt: undefined, upstreamEndedAt: undefined, endedAt: undefined };
  const unpriced = { costMicros: undefined, costCurrency: undefined, costBasis: undefined, detail: undefined };
  const job = { ordinal: index + 1, provider, outcome, isIntended: true, isRepeatable: false, failure: undefined };
  return { ...none, ...untimed, ...unpriced, ...job, ageMs: 0, ...changed };
}

/** Returns the decision in short: for a job its provider, its ordinal, its key and the lost jobs before it. */
async function decide(rows: readonly Row[], story: Story = {}) {
  const { tiers = ['a', 'b'], onLostJob = 'fail', disabled = [], models = modelsAt(tiers) } = story;
  const opened = ['a', 'b'].map((name) => ({ ...heldProvider({ onRun: () => {} }), name }));
  const deps = {
    db: database.db,
    models: () => models,
    providers: providersOf(opened, () => ({ onLostJob })),
    switches: { isDisabled: (provider: string) => Promise.resolve(disabled.includes(provider)) },
  };
  const next = await findOpenOrReserveJob(deps, { taskId, accountId, param: taskParam('routed') }, rows.map(rowOf));
  if (next.kind === 'job') {
    const { job } = next;
    assert.equal(job.open.provider.name, job.entry.provider);
    assert.deepEqual([job.state, job.taskId, job.pool], ['reserved', taskId, undefined]);
    return [job.entry.provider, job.ordinal, job.jobKey, job.resubmissions];
  }
  if (next.kind === 'resumed') return ['resumed', next.row.ordinal, next.jobKey, next.resubmissions];
  if (next.kind === 'waits') return ['waits', next.pauseMs];
  return next.kind === 'task_failed' ? ['failed', next.failure] : [next.kind];
}

const keyOf = (name: string) => uuidv5(name, taskId);
const { rejected, failed, unavailable } = providerFailures;
const refusedVideo = {
  failCode: 'content_rejected',
  failMsg: 'The generated video was rejected by the content policy.',
};
const repeatable = { isRepeatable: true };
const unsent = { isIntended: false };
const resubmit = { onLostJob: 'resubmit' } as const;
const times = (count: number, row: Row): readonly Row[] => Array.from({ length: count }, () => row);

const stories: readonly (readonly [
  title: string,
  rows: readonly Row[],
  next: () => readonly unknown[],
  story?: Story,
])[] = [
  ['a new task goes to the first tier', [], () => ['a', 1, taskId, 0]],
  ['a create that was not accepted is repeated under its name', [['a', 'not_created']], () => ['a', 2, taskId, 0]],
  ['a refused create leads to the next tier', [['a', 'refused']], () => ['b', 2, keyOf('b/0'), 0]],
  ['a failed job leads to the next tier', [['a', 'fail']], () => ['b', 2, keyOf('b/0'), 0]],
  [
    'two failed jobs fail the task',
    [
      ['a', 'fail'],
      ['b', 'fail'],
    ],
    () => ['failed', failed],
  ],
  [
    'the last of two refusals counts',
    [
      ['a', 'fail'],
      ['b', 'refused'],
    ],
    () => ['failed', rejected],
  ],
  [
    'the last of two ends counts',
    [
      ['a', 'refused'],
      ['b', 'fail'],
    ],
    () => ['failed', failed],
  ],
  ['a task without a tier is not made', [], () => ['failed', unavailable], { tiers: [] }],
  ['a provider that has left the catalogue is skipped', [], () => ['b', 1, taskId, 0], { tiers: ['gone', 'b'] }],
  ['a lost job ends the task', [['a', 'abandoned']], () => ['failed', unavailable]],
  ['a lost job is made again where it may be', [['a', 'abandoned']], () => ['a', 2, keyOf('a/1'), 1], resubmit],
  [
    'a lost job is made again also after a create that was not accepted',
    [
      ['a', 'abandoned'],
      ['a', 'not_created'],
    ],
    () => ['a', 3, keyOf('a/1'), 1],
    resubmit,
  ],
  [
    'after a lost job a refused create leads to no other provider',
    [
      ['a', 'abandoned'],
      ['a', 'refused'],
    ],
    () => ['failed', rejected],
    resubmit,
  ],
  [
    'a lost job is made again beside a refusal of another provider',
    [
      ['a', 'refused'],
      ['b', 'abandoned'],
    ],
    () => ['b', 3, keyOf('b/1'), 1],
    resubmit,
  ],
  ['a refused video is made again', [['a', 'fail', repeatable]], () => ['a', 2, keyOf('a/1'), 0]],
  [
    'a refused video leads on if its next create is refused',
    [
      ['a', 'fail', repeatable],
      ['a', 'refused'],
    ],
    () => ['b', 3, keyOf('b/0'), 0],
  ],
  [
    'a video that is refused for the last time leads on',
    [
      ['a', 'fail', repeatable],
      ['a', 'fail'],
    ],
    () => ['b', 3, keyOf('b/0'), 0],
  ],
  [
    'a refused video whose provider is gone is the failure',
    [['a', 'fail', repeatable]],
    () => ['failed', refusedVideo],
    { tiers: ['b'] },
  ],
  ['an end that was decided stays', [['a', 'fail', { failure: rejected }]], () => ['failed', rejected]],
  ['a job without an end is resumed', [['a', undefined]], () => ['resumed', 1, taskId, 0]],
  ['a job with a video is resumed', [['a', 'success']], () => ['resumed', 1, taskId, 0]],
  [
    'a resumed job keeps its name',
    [
      ['a', 'fail'],
      ['b', undefined],
    ],
    () => ['resumed', 2, keyOf('b/0'), 0],
  ],
  [
    'a job that was made again is resumed as such',
    [
      ['a', 'abandoned'],
      ['a', undefined],
    ],
    () => ['resumed', 2, keyOf('a/1'), 1],
    resubmit,
  ],
  ['a row that was never sent is used again', [['a', undefined, unsent]], () => ['a', 1, taskId, 0]],
  [
    'it is also used for another provider',
    [
      ['a', 'fail'],
      ['a', undefined, unsent],
    ],
    () => ['b', 2, keyOf('b/0'), 0],
  ],
  ['one that has ended is not used again', [['a', 'not_created', unsent]], () => ['a', 2, taskId, 0]],
  ['19 jobs lead to one more', times(19, ['a', 'fail', repeatable]), () => ['a', 20, keyOf('a/19'), 0]],
  ['20 jobs lead to no other', times(20, ['a', 'fail', repeatable]), () => ['failed', unavailable]],
  ['399 creates lead to one more', times(399, ['a', 'not_created']), () => ['a', 400, taskId, 0]],
  ['400 creates lead to no other', times(400, ['a', 'not_created']), () => ['failed', unavailable]],
  ['a machine that is disabled leads on', [], () => ['b', 1, taskId, 0], { disabled: ['a'] }],
  ['a task waits while all are disabled', [], () => ['waits', 5_000], { disabled: ['a', 'b'] }],
];

for (const [title, rows, next, story] of stories) {
  test(title, async () => assert.deepEqual(await decide(rows, story), next()));
}

test('a task whose model has left the catalogue has the tiers that were stored with it', async () => {
  const models: ReturnType<typeof modelsAt> = new Map();
  assert.deepEqual(await decide([], { models }), ['failed', unavailable]);
  const [model] = modelsAt(['b']).values();
  await saveTaskTiers(database.db, taskId, model?.tiers ?? assert.fail());
  assert.deepEqual(await decide([], { models }), ['b', 1, taskId, 0]);
});

test('a task of our own machine waits only while that is disabled', async () => {
  const pauseIf = (disabled: string) =>
    findDisabledMachinePause({ switches: { isDisabled: (provider) => Promise.resolve(provider === disabled) } });
  assert.equal(await pauseIf('a'), undefined);
  assert.deepEqual(await pauseIf('preview'), { kind: 'waits', why: 'provider disabled', pauseMs: 5_000 });
});

test('a task takes a slot of the first provider that has one, passes over one that cools, and queues at a full one', async () => {
  const { db } = database;
  const upstreams = ['c', 'd'].map((name) => createFakeUpstream({ name }).provider);
  const deps = {
    db,
    models: () => modelsAt(['c', 'd'], { limit: 1 }),
    providers: providersOf(upstreams),
    switches: { isDisabled: () => Promise.reject(new Error('a switch was read before a slot was requested')) },
  };
  const request = async () => {
    const id = await acceptTestTask(db, accountId, taskParam('routed'));
    await saveTaskTiers(db, id, deps.models().get('videogen-2.0-fast')?.tiers ?? assert.fail());
    const next = await findOpenOrReserveJob(deps, { taskId: id, accountId, param: taskParam('routed') }, []);
    if (next.kind === 'job') {
      const { state, pool, ordinal, entry, open, taskId: of } = next.job;
      assert.deepEqual([state, ordinal, open.provider.name, of], ['reserved', 1, entry.provider, id]);
      return pool;
    }
    if (next.kind !== 'waits') return next.kind;
    assert.ok(next.pauseMs > 0 && next.pauseMs < 3_600_000);
    return next.kind;
  };
  const coolDown = (provider: string) =>
    startCooldown(db, {
      pool: `${provider}/model`,
      provider,
      reason: 'unreachable',
      baseMs: 7_200_000,
      maxMs: 7_200_000,
      isOfProvider: false,
    });
  assert.equal(await request(), 'c/model');
  assert.equal(await request(), 'waits', 'its own limit is a queue');
  await coolDown('c');
  assert.equal(await request(), 'd/model');
  assert.equal(await request(), 'waits');
  await coolDown('d');
  assert.equal(await request(), 'waits');
});

test('a job whose upstream id is known runs from now on unless its time is known, with the handle of its provider', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000 });
  const { provider } = createFakeUpstream({ name: 'c' });
  const open = providersOf([provider]).ofEntry({ provider: 'c' } as never) ?? assert.fail();
  const base = { taskId, ordinal: 2, jobKey: 'key', pool: 'c/model', open, resubmissions: 1 };
  const task = { param: taskParam('runs') };
  const upstream = { jobKey: 'key', id: 'an id', handle: {}, input: task.param.input };
  const running = { state: 'running', ...base, provider, upstream, submittedAt: 1_000, upstreamEndedAt: undefined };
  assert.deepEqual(asRunningJob(task, base, { provider, id: 'an id' }), running);
  const known = { provider, id: 'an id', handle: { url: 'a place' }, submittedAt: 5, upstreamEndedAt: 7 };
  assert.deepEqual(asRunningJob(task, base, known), {
    ...running,
    upstream: { ...upstream, handle: { url: 'a place' } },
    submittedAt: 5,
    upstreamEndedAt: 7,
  });
});
