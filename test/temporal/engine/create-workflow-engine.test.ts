import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { createWorkflowEngine } from '../../../src/temporal/engine/create-workflow-engine.ts';

/** gRPC's NOT_FOUND, as the connection of the client throws it. */
const notFound = Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: 'workflow not found', metadata: {} });
const [taskId, accountId, deliveryId] = ['the-task', 'the-account', 'the-delivery'];
const delivery = { deliveryId, accountId };

type World = {
  /** The error of each start, cancellation and termination. */
  readonly error?: Error;
  readonly described?: { readonly pendingActivities?: readonly object[]; readonly pendingWorkflowTask?: object };
};

/** An engine whose client notes every request that changes something. */
function engineOf({ error, described }: World = {}) {
  const requests: unknown[] = [];
  const request = async (...values: unknown[]) => {
    if (error !== undefined) throw error;
    requests.push(values);
  };
  const client = {
    options: { namespace: 'videos' },
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: {
      start: (type: string, options: object) => request('start', type, options),
      execute: async (...values: unknown[]) => {
        requests.push(['execute', ...values]);
        return { outcome: 'ok' };
      },
      signalWithStart: async (...values: unknown[]) => void requests.push(['signalWithStart', ...values]),
      getHandle: (workflowId: string) => ({
        cancel: () => request('cancel', workflowId).then(() => ({})),
        terminate: (reason: string) => request('terminate', workflowId, reason).then(() => ({})),
      }),
    },
    workflowService: {
      describeWorkflowExecution: async ({ execution }: { readonly execution: object }) => {
        assert.deepEqual(execution, { workflowId: `callback-${deliveryId}` });
        if (described === undefined) throw notFound;
        return { workflowExecutionInfo: { status: 1, execution: { runId: 'run' } }, ...described };
      },
    },
  };
  // All that these calls use of a client.
  return { engine: createWorkflowEngine(client as unknown as Client, taskQueuesOf('queue')), requests };
}

const alreadyStarted = new WorkflowExecutionAlreadyStartedError('it exists', 'id', 'type');
const ended = new WorkflowNotFoundError('it has ended', 'id', undefined);
const outage = new Error('14 UNAVAILABLE');
const attribute = (name: string, value: string) => ({ key: { name, type: 'KEYWORD' }, value });
const ofAccount = attribute('AccountId', accountId);
const deliveryOptions = {
  workflowId: `callback-${deliveryId}`,
  taskQueue: 'queue',
  args: [delivery],
  typedSearchAttributes: [ofAccount],
  staticSummary: `delivery ${deliveryId}`,
};

test('a task starts under its own id, once, shares its queue fairly by account, and can be searched', async () => {
  const { engine, requests } = engineOf();
  assert.equal(await engine.startTask({ taskId, accountId, model: 'fast' }), true);
  const options = {
    workflowId: taskId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue: 'queue',
    args: [{ taskId }],
    typedSearchAttributes: [ofAccount, attribute('Model', 'fast'), attribute('TaskState', 'queuing')],
    staticSummary: `fast for account ${accountId}`,
    staticDetails: `Task \`${taskId}\`. Show it with \`videogen api GET /api/admin/v1/tasks/show -f taskId=${taskId}\`.`,
    priority: { fairnessKey: accountId },
  };
  assert.deepEqual(requests, [['start', 'videoTask', options]]);
});

test('the closing of an account and a delivery start under ids of their own', async () => {
  const { engine, requests } = engineOf();
  await engine.startClosing(accountId);
  await engine.startDelivery(delivery);
  const closing = {
    workflowId: `close-account-${accountId}`,
    taskQueue: 'queue',
    args: [{ accountId }],
    typedSearchAttributes: [ofAccount],
    staticSummary: `closing of account ${accountId}`,
  };
  assert.deepEqual(requests, [
    ['start', 'closeAccount', closing],
    ['start', 'deliverCallback', deliveryOptions],
  ]);
});

test('a workflow that exists is not started again, and an outage is an error', async () => {
  const { engine } = engineOf({ error: alreadyStarted });
  assert.equal(await engine.startTask({ taskId, accountId, model: 'fast' }), false);
  await engine.startClosing(accountId);
  await engine.startDelivery(delivery);
  const failing = engineOf({ error: outage }).engine;
  await assert.rejects(failing.startTask({ taskId, accountId, model: 'fast' }), outage);
  await assert.rejects(failing.startClosing(accountId), outage);
  await assert.rejects(failing.startDelivery(delivery), outage);
});

test('a cancellation says whether there was a workflow; a termination has its reason; both leave one that has ended', async () => {
  const { engine, requests } = engineOf();
  assert.equal(await engine.cancelWorkflow(taskId), true);
  await engine.terminateTask(taskId, 'it was refunded');
  assert.deepEqual(requests, [
    ['cancel', taskId],
    ['terminate', taskId, 'it was refunded'],
  ]);
  const late = engineOf({ error: ended }).engine;
  assert.equal(await late.cancelWorkflow(taskId), false);
  await late.terminateTask(taskId, 'it was refunded');
  const failing = engineOf({ error: outage }).engine;
  await assert.rejects(failing.cancelWorkflow(taskId), outage);
  await assert.rejects(failing.terminateTask(taskId, 'it was refunded'), outage);
});

const signalled = [['signalWithStart', 'deliverCallback', { ...deliveryOptions, signal: 'redeliver' }]];

test('a redelivery signals the workflow of the delivery, or starts it', async () => {
  const { engine, requests } = engineOf();
  await engine.redeliver(delivery);
  assert.deepEqual(requests, signalled);
});

for (const { what, expected, ...world } of [
  { what: 'no workflow', expected: [['start', 'deliverCallback', deliveryOptions]] },
  {
    what: 'a pause between attempts',
    error: alreadyStarted,
    described: { pendingActivities: [] },
    expected: signalled,
  },
  { what: 'a pause, and lists nothing', error: alreadyStarted, described: {}, expected: signalled },
  { what: 'an attempt', error: alreadyStarted, described: { pendingActivities: [{}] }, expected: [] },
  { what: 'a step', error: alreadyStarted, described: { pendingWorkflowTask: {} }, expected: [] },
  { what: 'a workflow that ends meanwhile', error: alreadyStarted, expected: [] },
]) {
  test(`an overdue delivery that has ${what} gets ${expected.length} requests`, async () => {
    const { engine, requests } = engineOf(world);
    await engine.wakeDelivery(delivery);
    assert.deepEqual(requests, expected);
  });
}

test('simultaneous tests of a provider are one workflow, which ends by a timeout', async () => {
  const { engine, requests } = engineOf();
  assert.deepEqual(await engine.testProvider('studio'), { outcome: 'ok' });
  const options = {
    workflowId: 'queue-test-provider-studio',
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowExecutionTimeout: 25_000,
    taskQueue: 'queue',
    args: [{ provider: 'studio' }],
    staticSummary: 'test of provider studio',
  };
  assert.deepEqual(requests, [['execute', 'testProvider', options]]);
});
