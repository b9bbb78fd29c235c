import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { stagingKeysOf } from '../../../activities/task-file-keys-and-deletion.ts';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { setProviderSwitchAs } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { hourMs } from '../../../src/platform/timing/milliseconds-per-unit.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { recordLog } from '../../support/log-lines.ts';
import { catalogueAt, workerParts } from '../../support/service/worker-parts.ts';
import { heldProvider, modelsAt, providersOf } from '../../support/tasks/fake-providers.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  accountId,
  connectedProvider,
  database,
  folder,
  passTime,
  played,
  prepareGenerations,
  upstreamOf,
  worldOf,
} from './routing-stage.ts';

prepareGenerations();

// Generations that wait: for a slot, a provider, or the start of their job.

test('a task waits for a full provider, and skips one that cools down', async () => {
  const [first, second] = [upstreamOf('first', { instant: false }), upstreamOf('second')];
  const world = worldOf({ upstreams: [first, second], limit: 1 });
  const generate = (taskId: string) =>
    silentActivity({ workflowId: taskId }, () =>
      wireActivities(world).generation.generateVideo({ taskId, isRemote: true }),
    );
  const tasks = await Promise.all([1, 2].map(() => acceptTestTask(database.db, accountId, taskParam('full'))));
  const [holds, waits] = tasks;
  assert.ok(holds !== undefined && waits !== undefined);
  const holding = generate(holds);
  await waitFor('its job', () => first.jobs[0]);
  await assert.rejects(generate(waits), { type: 'waiting' });
  assert.equal(await isRetryRecorded(waits), false, 'its row in the queue has the time');
  assert.equal((await findTask(database.db, waits))?.state, 'waiting', 'its deadline does not run');
  assert.equal(second.asked.length, 0);
  const text = `update provider_pools set failures = 1, cooling_until = now() + interval '1 hour' where provider = $1`;
  await database.db.run({ name: 'test-cools', text }, [first.provider.name]);
  await generate(waits);
  assert.deepEqual(second.asked, [waits]);
  first.finish();
  await holding;
});

test('a task waits for as long as its provider declines all creates, and is not refunded', async () => {
  let creates = 0;
  const busy = { kind: 'not_accepted', reason: 'busy', detail: '429' } as const;
  const upstream = upstreamOf('saturated', { declines: () => ((creates += 1) <= 30 ? busy : undefined) });
  const { end, calls } = await played({ upstreams: [upstream], betweenAttempts: passTime, attempts: 40 });
  assert.deepEqual([end, calls.length], ['success', 31]);
});

for (const [retryAfterMs, pauseMs] of [
  [0, 5_000],
  [600_000, 600_000],
] as const) {
  test(`a provider that is busy and requests a pause of ${retryAfterMs} ms gets one of ${pauseMs} ms`, async () => {
    const busy = { kind: 'not_accepted', reason: 'busy', detail: '429', retryAfterMs } as const;
    const upstream = upstreamOf('pausing', { declines: () => busy });
    const taskId = await acceptTestTask(database.db, accountId, taskParam('pausing'));
    const attempt = silentActivity({ workflowId: taskId }, () =>
      wireActivities(worldOf({ upstreams: [upstream] })).generation.generateVideo({ taskId, isRemote: true }),
    );
    await assert.rejects(attempt, { type: 'waiting' });
    const text = `
select cooling_until - intended_at >= $2 * interval '1 ms' as pauses from provider_pools join provider_jobs using (pool)
where task_id = $1`;
    const rows = await database.db.run({ name: 'test-pause', text }, [taskId, pauseMs]);
    assert.deepEqual(rows, [{ pauses: true }]);
  });
}

test('operators can list and wake a task that pauses between look-ups of a lost create', async () => {
  const upstream = upstreamOf('lagging', {
    declines: () => ({ kind: 'unknown', detail: 'a slow proxy' }),
    recover: () => ({ kind: 'later', afterMs: 3_600_000 }),
  });
  const world = worldOf({ upstreams: [upstream] });
  const taskId = await acceptTestTask(database.db, accountId, taskParam('lagging'));
  const attempt = silentActivity({ workflowId: taskId }, () =>
    wireActivities(world).generation.generateVideo({ taskId, isRemote: true }),
  );
  await assert.rejects(attempt, { type: 'waiting', message: 'the job may still be found' });
  assert.equal(await isRetryRecorded(taskId), true);
});

async function isRetryRecorded(taskId: string): Promise<boolean | undefined> {
  const text = 'select retry_at > now() as waits from tasks where id = $1';
  const [row] = await database.db.run<{ readonly waits: boolean | null }>({ name: 'test-retry', text }, [taskId]);
  return row?.waits ?? false;
}

test('a job whose provider now has another address is not polled until the deadline', async () => {
  const upstream = upstreamOf('moved', { instant: false });
  const stranger = { ...upstream.provider, status: () => assert.fail('polled another upstream') };
  const taskId = await acceptTestTask(database.db, accountId, taskParam('moved'));
  const deadlines = createTestDeadlines();
  const { watches, ...rest } = worldOf({ upstreams: [upstream] });
  const world = { ...rest, watches: { ...watches, startDeadline: deadlines.startDeadline } };
  let lookups = 0;
  const ofJob = () => {
    lookups += 1;
    return undefined;
  };
  const { log, lines } = recordLog();
  const later = { ...world, log, providers: { ...providersOf([stranger]), ofJob } };
  const stop = new AbortController();
  const attempts = { begin: () => ({ signal: stop.signal, stop: () => {} }) };
  const first = { ...world, watches: { ...world.watches, attempts } };
  const order = { taskId, isRemote: true };
  const attempt = silentActivity({ workflowId: taskId }, () => wireActivities(first).generation.generateVideo(order));
  await waitFor('its job', () => upstream.jobs[0]);
  stop.abort(new Error('the worker stops'));
  await assert.rejects(attempt);
  const next = silentActivity({ workflowId: taskId }, () => wireActivities(later).generation.generateVideo(order));
  const rejected = assert.rejects(next, { type: 'provider_unavailable' });
  await waitFor('the first lookup of its provider', () => (lookups > 0 ? true : undefined));
  assert.equal(deadlines.pass(), 1);
  await rejected;
  const [row] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([row?.outcome, row?.failure?.failCode], ['abandoned', 'provider_unavailable']);
  assert.deepEqual(lines, [pausedPolling(taskId, upstream.provider.name, 'provider_changed')], 'not each time');
});

const pausedPolling = (taskId: string, provider: string, reason: string) => {
  return { level: 50, taskId, ordinal: 1, provider, reason, msg: 'job polling paused' };
};

test('a provider that is switched off receives no request, and its job continues once it is enabled again', async () => {
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
  const change = ({ watches, ...parts }: WorkerParts): WorkerParts => {
    const switches = { ...watches.switches, watch: () => ({ signal: off.signal, stop: () => {} }) };
    return { ...parts, providers: providersOf([counted]), watches: { ...watches, switches } };
  };
  const { log, lines } = recordLog();
  const world = { ...worldOf({ upstreams: [upstream], change }), log };
  const taskId = await acceptTestTask(database.db, accountId, taskParam('switched'));
  const order = { taskId, isRemote: true };
  const stop = new AbortController();
  const attempts = { begin: () => ({ signal: stop.signal, stop: () => {} }) };
  const first = { ...world, watches: { ...world.watches, attempts } };
  const attempt = silentActivity({ workflowId: taskId }, () => wireActivities(first).generation.generateVideo(order));
  await waitFor('a poll', () => polls[0]);
  await set('off');
  off.abort();
  const pollsBefore = polls.length;
  stop.abort(new Error('the worker stops'));
  await assert.rejects(attempt);
  await assert.rejects(
    silentActivity({ workflowId: taskId }, () => wireActivities(first).generation.generateVideo(order)),
    { type: 'interrupted' },
    'the provider is not to blame',
  );
  assert.equal(polls.length, pollsBefore);
  assert.equal(upstream.jobs[0]?.state, 'running', 'it was not cancelled');
  const paused = pausedPolling(taskId, provider, 'provider_off');
  assert.deepEqual(lines, [paused, paused], 'by each attempt');
  await set('enabled');
  upstream.finish();
  await silentActivity({ workflowId: taskId }, () =>
    wireActivities({ ...world, watches: workerParts(database.db, folder, []).watches }).generation.generateVideo(order),
  );
  assert.ok(await world.media.sizeOf(stagingKeysOf(taskId).video));
});

test('a lost run is repeated under the same name, three times at most, and then the task is refunded', async () => {
  const names: string[] = [];
  const provider = connectedProvider(async ({ jobKey }) => {
    names.push(jobKey);
    return { kind: 'lost', detail: 'socket hang up' };
  });
  const change = (parts: WorkerParts) => ({
    ...parts,
    providers: providersOf([provider]),
    catalogue: catalogueAt(modelsAt([provider.name])),
  });
  const { end, calls, taskId, requests } = await played({ upstreams: [], change });
  assert.deepEqual([end, calls], ['provider_unavailable', ['held abandoned']]);
  assert.deepEqual(requests, ['call held unknown', 'call held unknown', 'call held unknown']);
  assert.deepEqual(names, [taskId, taskId, taskId]);
});

test('a task is queuing until an upstream accepts its job, and generating from then on', async () => {
  let isDown = true;
  const unreachable = { kind: 'not_accepted', reason: 'unreachable', detail: 'ECONNREFUSED' } as const;
  const upstream = upstreamOf('down', { declines: () => (isDown ? unreachable : undefined), instant: false });
  const states: unknown[] = [];
  const readState = async () => {
    const [row] = await database.db.run<{ state: string; isBegun: boolean; stage: string }>({
      name: 'test-state',
      text: `select state, generation_started_at is not null as "isBegun" from tasks order by id desc limit 1`,
      plannedAnew: true,
    });
    states.push([row?.state, row?.isBegun]);
  };
  const betweenAttempts = async () => {
    await readState();
    isDown = states.length < 2;
    await passTime();
    const text = `update tasks set created_at = created_at - interval '1 hour' where state = 'queuing'`;
    await database.db.run({ name: 'test-hour', text, plannedAnew: true });
  };
  const waits: unknown[] = [];
  const change = (parts: WorkerParts): WorkerParts => {
    const emit: WorkerParts['events']['emit'] = (event) => {
      if (event.kind === 'stage_ended' && event.stage === 'queue_wait')
        waits.push([states.length, Math.floor(event.durationMs / hourMs)]);
      parts.events.emit(event);
    };
    return { ...parts, events: { emit } };
  };
  const status: PolledProvider['status'] = async (jobs, signal) => {
    await readState();
    upstream.finish();
    return await upstream.provider.status(jobs, signal);
  };
  const polled = { ...upstream, provider: { ...upstream.provider, status } };
  const { end } = await played({ upstreams: [polled], betweenAttempts, change });
  assert.equal(end, 'success');
  assert.deepEqual(states.slice(0, 3), [
    ['queuing', false],
    ['queuing', false],
    ['generating', true],
  ]);
  assert.deepEqual(waits, [[2, 2]], 'the wait in the queue is measured once, until the job exists');
});

test('a task whose job lives in a connection is queuing until the provider reports its start', async () => {
  const states: unknown[] = [];
  const stateOf = async (taskId: string) => (await findTask(database.db, taskId))?.state;
  const provider = connectedProvider(async ({ taskId }, report, { workFolder, onStarted }) => {
    report(50);
    states.push(await stateOf(taskId));
    onStarted();
    states.push(
      await waitFor('the start', async () => ((await stateOf(taskId)) === 'generating' ? 'generating' : undefined)),
    );
    return { kind: 'video', video: await copyInstantClip(workFolder) };
  });
  const change = (parts: WorkerParts) => ({
    ...parts,
    providers: providersOf([provider]),
    catalogue: catalogueAt(modelsAt([provider.name])),
  });
  const { end, requests } = await played({ upstreams: [], change });
  assert.deepEqual([end, requests], ['success', ['call held accepted']]);
  assert.deepEqual(states, ['queuing', 'generating']);
});

test('a task of our own machine waits in the queue while the preview is off or draining', async () => {
  const actor = { kind: 'command_line', name: 'ada' } as const;
  const set = (state: 'enabled' | 'draining' | 'off') =>
    setProviderSwitchAs(database.db, actor, { provider: 'preview', state, reason: 'a test' });
  let runs = 0;
  const provider = heldProvider({ onRun: () => (runs += 1) });
  const change = (parts: WorkerParts): WorkerParts => ({
    ...parts,
    providers: providersOf([provider]),
    catalogue: catalogueAt(modelsAt([provider.name], { isRemote: false })),
  });
  const states: unknown[] = [];
  const betweenAttempts = async () => {
    const text = 'select state from tasks order by created_at desc limit 1';
    const [row] = await database.db.run<{ state: string }>({ name: 'test-state-here', text, plannedAnew: true });
    states.push([row?.state, runs]);
    await set(states.length === 1 ? 'draining' : 'enabled');
  };
  await set('off');
  const { end, requests } = await played({ upstreams: [], change, betweenAttempts });
  assert.deepEqual([end, runs, requests], ['success', 1, []]);
  assert.deepEqual(states, [
    ['queuing', 0],
    ['queuing', 0],
  ]);
});

test('a machine that refuses work begins no attempt, and the deadline of the task does not run', async () => {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('waits'));
  const upstream = upstreamOf('first');
  const { watches, ...rest } = worldOf({ upstreams: [upstream] });
  const world = { ...rest, watches: { ...watches, refusesWork: () => 'disk full: work folder' } };
  const attempt = silentActivity({ workflowId: taskId }, () =>
    wireActivities(world).generation.generateVideo({ taskId, isRemote: true }),
  );
  await assert.rejects(attempt, { type: 'waiting', message: 'disk full: work folder' });
  assert.deepEqual([upstream.asked, (await findTask(database.db, taskId))?.state], [[], 'waiting']);
});
