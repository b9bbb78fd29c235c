import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskEndedAbortReason } from '../../../activities/running-attempts.ts';
import { wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { type Database, DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import type { PolledProvider } from '../../../src/providers/provider-contract.ts';
import { listProviderJobs } from '../../../src/tasks/jobs/provider-jobs.ts';
import { listPools } from '../../../src/tasks/jobs/provider-pools-and-switches.ts';
import { providersOf } from '../../support/tasks/fake-providers.ts';
import type { FakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { silentActivity } from '../../support/workflows/silent-activity.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { waitFor } from '../../support/wait-for.ts';
import { accountId, database, prepareGenerations, upstreamOf, worldOf } from './routing-stage.ts';

prepareGenerations();

// Attempts that are aborted while a create, or the lookup of a lost one, is on its way.

/** Starts an attempt at a new task, which `stop` aborts. */
async function startAttempt(
  upstream: FakeUpstream,
  changes: Partial<PolledProvider>,
  { stop = new AbortController(), db = database.db }: { stop?: AbortController; db?: Database } = {},
) {
  const taskId = await acceptTestTask(database.db, accountId, taskParam('interrupted'));
  const deadlines = createTestDeadlines();
  const { watches, ...rest } = worldOf({ upstreams: [upstream] });
  const { startDeadline } = deadlines;
  const attempts = { begin: () => ({ signal: stop.signal, stop: () => {} }) };
  const providers = providersOf([{ ...upstream.provider, ...changes }]);
  const world = { ...rest, db, providers, watches: { ...watches, startDeadline, attempts } };
  const attempt = silentActivity({ workflowId: taskId }, () =>
    wireActivities(world).generation.generateVideo({ taskId, isRemote: true }),
  );
  const ended = assert.rejects(attempt);
  return { taskId, deadlines, stop, ended };
}

/** A create that is answered when the test calls `answer`, or with an error if its signal is aborted before. */
function heldCreate({ provider }: FakeUpstream) {
  let answer = () => {};
  let isSent = false;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const submit: PolledProvider['submit'] = async (request, signal) => {
    isSent = true;
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('socket closed')), { once: true });
      void answered.then(resolve);
    });
    return await provider.submit(request, signal);
  };
  return { submit, answer: () => answer(), sent: () => waitFor('the create', () => isSent || undefined) };
}

const jobsOf = async (taskId: string) =>
  (await listProviderJobs(database.db, taskId)).map(({ jobId, outcome }) => [jobId, outcome]);

const failuresOf = async ({ provider }: FakeUpstream) =>
  (await listPools(database.db)).find((pool) => pool.provider === provider.name)?.failures;

test('a job that is accepted after its task was cancelled is recorded and stopped upstream', async () => {
  const upstream = upstreamOf('late', { instant: false });
  const create = heldCreate(upstream);
  const { taskId, stop, ended } = await startAttempt(upstream, { submit: create.submit });
  await create.sent();
  stop.abort(new TaskEndedAbortReason());
  create.answer();
  await ended;
  const [job] = upstream.jobs;
  assert.equal(job?.state, 'cancelled');
  assert.deepEqual(await jobsOf(taskId), [[job?.jobId, 'abandoned']]);
});

test('a job that is accepted after the deadline of its task is recorded and stopped upstream', async () => {
  const upstream = upstreamOf('late', { instant: false });
  const create = heldCreate(upstream);
  const { taskId, deadlines, ended } = await startAttempt(upstream, { submit: create.submit });
  await create.sent();
  deadlines.pass();
  create.answer();
  await ended;
  const [row] = await listProviderJobs(database.db, taskId);
  assert.deepEqual([upstream.jobs[0]?.state, row?.failure?.failCode], ['cancelled', 'timeout']);
});

test('a job that is accepted after its worker began to stop is recorded, and left to the next attempt', async () => {
  const upstream = upstreamOf('late', { instant: false });
  const create = heldCreate(upstream);
  const { taskId, stop, ended } = await startAttempt(upstream, { submit: create.submit });
  await create.sent();
  stop.abort(new Error('the worker stops'));
  create.answer();
  await ended;
  const [job] = upstream.jobs;
  assert.equal(job?.state, 'running');
  assert.deepEqual(await jobsOf(taskId), [[job?.jobId, undefined]]);
});

test('a create without a response is aborted when the grace time after a cancellation is over', async () => {
  const upstream = upstreamOf('silent', { instant: false });
  const create = heldCreate(upstream);
  const { taskId, deadlines, stop, ended } = await startAttempt(upstream, { submit: create.submit });
  await create.sent();
  stop.abort(new TaskEndedAbortReason());
  deadlines.pass();
  await ended;
  assert.equal(upstream.jobs.length, 0);
  // The intent stays, from which reconcile finds out whether a job exists.
  assert.deepEqual(await jobsOf(taskId), [[undefined, undefined]]);
  assert.equal(await failuresOf(upstream), 0, 'the abort proves nothing about the provider');
});

test('a create that its abort made fail is no failure of the provider, and leads to no other create', async () => {
  const upstream = upstreamOf('aborted');
  let requests = 0;
  const submit: PolledProvider['submit'] = async (_request, signal) => {
    requests += 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return { kind: 'not_accepted', reason: 'unreachable', detail: 'socket closed' };
  };
  const { taskId, deadlines, stop, ended } = await startAttempt(upstream, { submit });
  await waitFor('the create', () => requests || undefined);
  stop.abort(new TaskEndedAbortReason());
  deadlines.pass();
  await ended;
  assert.deepEqual([requests, await failuresOf(upstream)], [1, 0]);
  assert.deepEqual(await jobsOf(taskId), [[undefined, 'not_created']]);
});

test('a task that is cancelled while its intent is committed sends no create', async () => {
  const upstream = upstreamOf('intended');
  const stop = new AbortController();
  const run: typeof database.db.run = async (statement, values) => {
    const rows = await database.db.run(statement, values);
    if (statement.name === 'intend-reserved-job') stop.abort(new TaskEndedAbortReason());
    return rows as never; // those of the same statement
  };
  const { taskId, ended } = await startAttempt(upstream, {}, { stop, db: { ...database.db, run } });
  await ended;
  assert.deepEqual([upstream.asked, await jobsOf(taskId)], [[], [[undefined, undefined]]]);
});

test('a job that its upstream does not stop stays open, so that reconcile stops it', async () => {
  const upstream = upstreamOf('deaf', { instant: false });
  const cancel = () => Promise.reject(new Error('socket hang up'));
  const { taskId, stop, ended } = await startAttempt(upstream, { cancel });
  const job = await waitFor('the job', () => upstream.jobs[0]);
  await waitFor('its id', async () => ((await jobsOf(taskId))[0]?.[0] === job.jobId ? true : undefined));
  stop.abort(new TaskEndedAbortReason());
  await ended;
  assert.deepEqual(await jobsOf(taskId), [[job.jobId, undefined]]);
});

test('a cancelled attempt waits for an unavailable database until its grace time is over', async () => {
  const upstream = upstreamOf('unrecorded', { instant: false });
  const create = heldCreate(upstream);
  let tries = 0;
  const run: typeof database.db.run = async (statement, values) => {
    if (statement.name !== 'record-provider-job') return await database.db.run(statement, values);
    tries += 1;
    throw new DatabaseUnavailableError(true, new Error('the server has closed the connection'));
  };
  const db = { ...database.db, run };
  const { deadlines, stop, ended } = await startAttempt(upstream, { submit: create.submit }, { db });
  await create.sent();
  stop.abort(new TaskEndedAbortReason());
  create.answer();
  await waitFor('an attempt to record the job', () => tries > 0 || undefined);
  deadlines.pass();
  await ended;
});

test('a lost job that is found during a cancellation is recorded and stopped upstream', async () => {
  const upstream = upstreamOf('found', { instant: false });
  const submit: PolledProvider['submit'] = async (request, signal) => {
    await upstream.provider.submit(request, signal);
    throw new Error('socket hang up');
  };
  const stop = new AbortController();
  const recover: PolledProvider['recover'] = async (create, signal) => {
    stop.abort(new TaskEndedAbortReason());
    return await upstream.provider.recover(create, signal);
  };
  const { taskId, ended } = await startAttempt(upstream, { submit, recover }, { stop });
  await ended;
  const [job] = upstream.jobs;
  assert.equal(job?.state, 'cancelled');
  assert.deepEqual(await jobsOf(taskId), [[job?.jobId, 'abandoned']]);
});

test('a task whose deadline passes before it waits for a slot ends as timeout, and waits no longer', async () => {
  const [first, full] = [upstreamOf('first'), upstreamOf('full', { instant: false })];
  const deadlines = createTestDeadlines();
  const world = worldOf({ upstreams: [first, full], limit: 1 });
  const refusedAfter = (work: () => void): PolledProvider => ({
    ...first.provider,
    submit: async () => {
      work();
      return { kind: 'refused', error: { kind: 'input', detail: 'unknown model' } };
    },
  });
  const generate = async (changes: Partial<WorkerParts['watches']>, onCreate: () => void) => {
    const taskId = await acceptTestTask(database.db, accountId, taskParam('full'));
    const providers = providersOf([refusedAfter(onCreate), full.provider]);
    const parts = { ...world, watches: { ...world.watches, ...changes }, providers };
    await silentActivity({ workflowId: taskId }, () =>
      wireActivities(parts).generation.generateVideo({ taskId, isRemote: true }),
    );
  };
  const holding = generate({}, () => {});
  await waitFor('the job that takes the slot', () => full.jobs[0]);
  const { startDeadline } = deadlines;
  await assert.rejects(
    generate({ startDeadline }, () => void deadlines.pass()),
    { type: 'timeout' },
  );
  assert.equal(full.jobs.length, 1);
  full.finish();
  await holding;
});
