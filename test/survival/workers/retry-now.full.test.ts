import type { WorkflowClientInterceptor } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { countWaitingByReasonAndPool } from '../../../src/library/operations/waiting-tasks.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { createWorkflowEngine } from '../../../src/temporal/engine/create-workflow-engine.ts';
import { createInstallation, type Installation } from '../../support/service/test-installation.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// A real Temporal server: the waits are its timers, and an operator ends them.

let installation: Installation;
/** The tasks whose next attempt fails once its job is recorded, with an hour until the following one. */
const failing = new Set<string>();

let providerTests = 0;
let endProviderTests: () => void = () => undefined;
const providerTestsEnd = new Promise<void>((resolve) => {
  endProviderTests = resolve;
});

before(async () => {
  installation = await createInstallation();
  await installation.startWorker({ adapt: failingOnce });
});
after(() => installation.close());

function failingOnce(parts: WorkerParts): WorkerParts {
  const fail = (taskId: string | undefined) => {
    if (taskId === undefined || !failing.delete(taskId)) return;
    throw ApplicationFailure.create({ message: 'the store is down', nextRetryDelay: 3_600_000 });
  };
  const emit: WorkerParts['events']['emit'] = (event) => {
    parts.events.emit(event);
    // This stage ends once the job is recorded.
    if (event.kind === 'stage_ended' && event.stage === 'queue_wait') fail(installation.upstream.jobs.at(-1)?.taskId);
  };
  const testProvider: WorkerParts['providers']['test'] = async ({ provider }) => {
    providerTests += 1;
    await providerTestsEnd;
    return { outcome: 'ok', detail: provider };
  };
  return { ...parts, events: { emit }, providers: { ...parts.providers, test: testProvider } };
}

test('an operator gets the result of a test from a worker; simultaneous tests of a provider are one', async (t) => {
  const { settings, queues, upstream } = installation;
  let starts = 0;
  const start: WorkflowClientInterceptor['start'] = async (input, next) => {
    const runId = await next(input);
    starts += 1;
    return runId;
  };
  const { client, close } = connectTemporal(settings.temporal, { interceptors: { workflow: [{ start }] } });
  t.after(close);
  const engine = createWorkflowEngine(client, queues);
  const { name } = upstream.provider;
  const tests = [engine.testProvider(name), engine.testProvider(name)];
  await waitFor('both starts', () => (starts === 2 ? true : undefined));
  endProviderTests();
  assert.deepEqual(
    await Promise.all(tests),
    [1, 2].map(() => ({ outcome: 'ok', detail: name })),
  );
  assert.equal(providerTests, 1);
  assert.equal((await engine.testProvider('nobody')).outcome, 'not_tested');
});

async function startWaiting(): Promise<string> {
  const taskId = await installation.accept();
  failing.add(taskId);
  const { engine, accountId } = installation;
  await engine.startTask({ taskId, accountId, model: 'videogen-2.0-fast' });
  const groups = () => countWaitingByReasonAndPool(installation.db);
  await waitFor('a retry', async () => (await groups()).find(({ reason }) => reason === 'retry'));
  return taskId;
}

test('a retry that is an hour away comes at once, continues the job, and makes no second one', async () => {
  const startedAt = Date.now();
  const taskId = await startWaiting();
  const [group] = await countWaitingByReasonAndPool(installation.db);
  assert.ok((group?.nextAt ?? 0) >= startedAt + 3_600_000);
  await waitFor('the end of the wait', async () => ((await installation.engine.retryNow(taskId)) ? true : undefined));
  installation.upstream.finish();
  const { state } = await waitForEnd(installation.db, taskId);
  assert.equal(state, 'success');
  assert.equal(installation.jobsOf(taskId).length, 1);
  assert.deepEqual(await countWaitingByReasonAndPool(installation.db), []);
});

test('a task whose attempt runs, one that has ended, and one without a workflow are left alone', async () => {
  const running = await installation.startGenerating();
  assert.equal(await installation.engine.retryNow(running), false);
  installation.upstream.finish();
  assert.equal((await waitForEnd(installation.db, running)).state, 'success');
  assert.equal(installation.jobsOf(running).length, 1);
  assert.equal(await installation.engine.retryNow(running), false);
  assert.equal(await installation.engine.retryNow(await installation.accept()), false);
});
