import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskEndedAbortReason } from '../../../activities/running-attempts.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import type { RunOutcome, RunProvider } from '../../../src/providers/provider-contract.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';
import { wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { listPools } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { catalogueAt } from '../../support/service/worker-parts.ts';
import { modelsAt, providersOf } from '../../support/tasks/fake-providers.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import {
  accountId,
  connectedProvider,
  database,
  passTime,
  played,
  prepareGenerations,
  priced,
  renameProviders,
  worldOf,
} from './routing-stage.ts';

prepareGenerations();

// Jobs that live in a connection to the upstream, and end with it.

const at = (provider: RunProvider) => (parts: WorkerParts) => ({
  ...parts,
  providers: providersOf([provider], () => ({ failedJobs: 'free' })),
  catalogue: catalogueAt(modelsAt([provider.name])),
});

const cost = { micros: 5, currency: 'USD', basis: 'reported' } as const;
const error = { kind: 'upstream', detail: 'out of memory' } as const;
for (const [end, failCode, outcome, costMicros, request] of [
  [{ kind: 'failed', error, cost }, 'provider_rejected', 'fail', 5, 'accepted'],
  [{ kind: 'failed', error: { ...error, kind: 'content' } }, 'content_rejected', 'fail', undefined, 'accepted'],
  [{ kind: 'refused', error: { ...error, kind: 'input' } }, 'provider_rejected', 'refused', undefined, 'refused'],
] satisfies [Extract<RunOutcome, { error: object }>, string, string, number | undefined, string][]) {
  test(`a run that ends as ${end.kind}, ${end.error.kind}, ends its task as ${failCode}, and is counted`, async () => {
    const provider = connectedProvider(() => Promise.resolve(end));
    const { end: ended, rows, requests } = await played({ upstreams: [], change: at(provider) });
    assert.deepEqual(
      [ended, rows.map((row) => [row.outcome, row.costMicros]), requests],
      [failCode, [[outcome, costMicros]], [`call held ${request}`]],
    );
  });
}

test('a run that was not accepted cools its pool down, and a later video ends the row of failures', async () => {
  let runs = 0;
  const provider = connectedProvider(async (_request, _report, { workFolder }) => {
    runs += 1;
    if (runs === 1) return { kind: 'not_accepted', reason: 'busy', detail: 'full' };
    return { kind: 'video', video: await copyInstantClip(workFolder), cost };
  });
  const failures = async () =>
    (await listPools(database.db)).flatMap((one) => (one.provider === provider.name ? one.failures : []));
  const seen: unknown[] = [];
  const betweenAttempts = async () => {
    seen.push(await failures());
    await passTime();
  };
  const { end, rows, requests } = await played({ upstreams: [], change: at(provider), betweenAttempts });
  assert.deepEqual([end, seen, await failures()], ['success', [[1]], [0]]);
  assert.deepEqual(
    rows.map((row) => [row.outcome, row.costMicros, row.costBasis]),
    [
      ['not_created', undefined, 'estimated'],
      ['success', 5, 'reported'],
    ],
  );
  assert.deepEqual(requests, ['call held busy', 'call held accepted']);
});

test('a run whose connection breaks cools its pool down, and after the third one its cost is unknown', async () => {
  const provider = connectedProvider(() => Promise.resolve({ kind: 'lost', detail: 'socket hang up' }));
  const perJob = { currency: 'USD', perJob: 5_000_000 } as const;
  const change = (parts: WorkerParts) => priced(perJob)(at(provider)(parts));
  const { rows } = await played({ upstreams: [], change });
  assert.deepEqual(
    rows.map((row) => [row.outcome, row.costMicros, row.costBasis]),
    [['abandoned', undefined, 'unknown']],
  );
  const pool = (await listPools(database.db)).find((one) => one.provider === provider.name);
  assert.deepEqual([pool?.failures, pool?.coolingReason, pool?.occupying], [1, 'unknown', 0]);
});

test('a run without a report of its start has generated for as long as it took, and its poster is used', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const tookMs = 3_600_000;
  const provider = connectedProvider(async (_request, _report, { workFolder }) => {
    t.mock.timers.tick(tookMs);
    return { kind: 'video', video: await copyInstantClip(workFolder) };
  });
  const posters: boolean[] = [];
  const change = (parts: WorkerParts): WorkerParts => {
    const { inspectVideo } = parts.videoTools;
    const inspect: typeof inspectVideo = (order) => {
      posters.push(order.deliveredPoster !== undefined);
      return inspectVideo(order);
    };
    return { ...at(provider)(parts), videoTools: { ...parts.videoTools, inspectVideo: inspect } };
  };
  const { taskId, end } = await played({ upstreams: [], change });
  const task = await findTask(database.db, taskId);
  const { generationStartedAt = Infinity, completedAt = 0 } = task ?? {};
  assert.deepEqual([end, posters], ['success', [true]]);
  assert.ok(completedAt - generationStartedAt >= tookMs, `${completedAt - generationStartedAt}`);
});

test('an error of the task ends it, and any other one is retried with the same job', async () => {
  for (const isOfTask of [true, false]) {
    renameProviders();
    const names: string[] = [];
    const provider = connectedProvider(async ({ jobKey }, _report, { workFolder }) => {
      names.push(jobKey);
      if (isOfTask) throw new TaskError('image_invalid', 'No image.');
      if (names.length === 1) throw new Error('disk full');
      return { kind: 'video', video: await copyInstantClip(workFolder) };
    });
    const { end, calls, taskId, requests } = await played({ upstreams: [], change: at(provider) });
    if (isOfTask) assert.deepEqual([end, calls, names, requests], ['image_invalid', ['held fail'], [taskId], []]);
    else assert.deepEqual([end, calls, names], ['success', ['held success'], [taskId, taskId]]);
  }
});

for (const [why, type, outcome, failCode] of [
  ['the deadline', 'timeout', 'abandoned', 'timeout'],
  ['the cancellation of its task', undefined, 'abandoned', 'cancelled'],
  ['the end of its worker', 'interrupted', undefined, undefined],
] as const) {
  test(`a run that ${why} interrupts ${outcome === undefined ? 'stays for the next attempt' : 'has ended with its request'}`, async () => {
    const deadlines = createTestDeadlines();
    const stop = new AbortController();
    const provider = connectedProvider((_request, _report, { signal }) => {
      if (why === 'the deadline') deadlines.pass();
      else stop.abort(failCode === 'cancelled' ? new TaskEndedAbortReason() : new Error('the worker stops'));
      return Promise.reject(signal.reason as Error);
    });
    const taskId = await acceptTestTask(database.db, accountId, taskParam('interrupted'));
    const { watches, ...world } = worldOf({ upstreams: [], change: at(provider) });
    const attempts = { begin: () => ({ signal: stop.signal, stop: () => {} }) };
    const parts = { ...world, watches: { ...watches, attempts, startDeadline: deadlines.startDeadline } };
    const attempt = silentActivity({ workflowId: taskId }, () =>
      wireActivities(parts).generation.generateVideo({ taskId, isRemote: true }),
    );
    await assert.rejects(attempt, type === undefined ? { name: 'CancelledFailure' } : { type });
    const [row] = await listProviderJobs(database.db, taskId);
    assert.deepEqual([row?.outcome, row?.failure?.failCode], [outcome, failCode]);
    const pool = (await listPools(database.db)).find((one) => one.provider === provider.name);
    assert.equal(pool?.occupying, outcome === undefined ? 1 : 0);
  });
}

test('a task that is cancelled while its intent is committed is not run', async () => {
  const stop = new AbortController();
  let runs = 0;
  const provider = connectedProvider(() => {
    runs += 1;
    return Promise.reject(new Error('it runs'));
  });
  const taskId = await acceptTestTask(database.db, accountId, taskParam('cancelled'));
  const { watches, ...world } = worldOf({ upstreams: [], change: at(provider) });
  const run: typeof world.db.run = async (statement, values) => {
    const rows = await database.db.run(statement, values);
    if (statement.name === 'intend-reserved-job') stop.abort(new TaskEndedAbortReason());
    return rows as never; // those of the same statement
  };
  const attempts = { begin: () => ({ signal: stop.signal, stop: () => {} }) };
  const parts = { ...world, db: { ...world.db, run }, watches: { ...watches, attempts } };
  const attempt = silentActivity({ workflowId: taskId }, () =>
    wireActivities(parts).generation.generateVideo({ taskId, isRemote: true }),
  );
  await assert.rejects(attempt, { name: 'CancelledFailure' });
  assert.equal(runs, 0);
});

test('a start that cannot be recorded is logged, and recorded with the video', async () => {
  const provider = connectedProvider(async (_request, _report, { workFolder, onStarted }) => {
    onStarted();
    return { kind: 'video', video: await copyInstantClip(workFolder) };
  });
  let failures = 1;
  const change = (parts: WorkerParts): WorkerParts => {
    const run: typeof parts.db.run = async (statement, values) => {
      if (statement.name === 'record-generating' && failures > 0) {
        failures -= 1;
        throw new Error('a bug');
      }
      return await parts.db.run(statement, values);
    };
    return { ...at(provider)(parts), db: { ...parts.db, run } };
  };
  const { taskId, end, lines } = await played({ upstreams: [], change });
  const [{ err, ...line } = assert.fail(), ...others] = lines.filter(({ level }) => Number(level) >= 40);
  assert.deepEqual([end, line, others], ['success', { level: 40, taskId, msg: 'task not marked as generating' }, []]);
  assert.equal((err as Error).message, 'a bug'); // as pino writes an error
});
