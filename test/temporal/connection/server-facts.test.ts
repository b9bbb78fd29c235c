import type { Client } from '@temporalio/client';
import { msNumberToTs } from '@temporalio/common/lib/time.js';
import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import {
  countPartitions,
  listMissingSearchAttributes,
  readPollers,
  readRetentionMs,
  readServerVersion,
} from '../../../src/temporal/connection/server-facts.ts';
import { registerSearchAttributes } from '../../../src/temporal/connection/search-attributes.ts';
import { deleteTaskHistories } from '../../../src/temporal/engine/delete-task-histories.ts';
import { describeTaskWorkflow } from '../../../src/temporal/engine/describe-workflow.ts';
import { endRetryPausesOfTask } from '../../../src/temporal/engine/end-retry-pauses.ts';
import { createWorkflowEngine } from '../../../src/temporal/engine/create-workflow-engine.ts';
import { createMissingSchedule, readScheduleState, runReconcile } from '../../../src/temporal/schedules/schedules.ts';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';

// What Temporal is asked about, and how long each call may take.

before(() => mock.timers.enable({ apis: ['Date'], now: 1_000_000_000 }));
after(() => mock.timers.reset());

type Answers = Readonly<Record<string, unknown>>;

/** A server that gives these answers to the calls of its services; notes the requests, and the time that each may take. */
function serverOf(answers: Answers = {}) {
  const requests: unknown[] = [];
  const limits: number[] = [];
  const service = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        async (request: unknown) => {
          requests.push([name, request]);
          const answer = answers[name] ?? {};
          if (answer instanceof Error) throw answer;
          return answer;
        },
      ]),
    );
  const done = async () => ({});
  const client = {
    options: { namespace: 'videos', identity: 'tester' },
    connection: {
      withDeadline: (deadline: number, call: () => Promise<unknown>) => {
        limits.push(deadline - Date.now());
        return call();
      },
      operatorService: service(['listSearchAttributes', 'addSearchAttributes']),
    },
    workflowService: service([
      'getSystemInfo',
      'describeNamespace',
      'listTaskQueuePartitions',
      'describeTaskQueue',
      'describeWorkflowExecution',
      'getWorkflowExecutionHistoryReverse',
      'listWorkflowExecutions',
      'deleteWorkflowExecution',
      'resetActivity',
    ]),
    workflow: {
      start: done,
      execute: done,
      signalWithStart: done,
      getHandle: () => ({ cancel: done, terminate: done }),
    },
    schedule: { create: done, getHandle: () => ({ trigger: done, describe: async () => ({ state: {} }) }) },
  };
  // All that these functions use of a client.
  return { client: client as unknown as Client, requests, limits };
}

const seconds = (value: number) => msNumberToTs(value * 1_000);
const notFound = Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: '', metadata: {} });
const outage = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} });

test('the version, the retention and the partitions of a server are read from its answers', async () => {
  assert.equal(await readServerVersion(serverOf({ getSystemInfo: { serverVersion: '1.2.3' } }).client), '1.2.3');
  for (const [describeNamespace, retentionMs] of [
    [{ config: { workflowExecutionRetentionTtl: seconds(60) } }, 60_000],
    [{ config: {} }, 0],
    [notFound, undefined],
  ] as const) {
    const { client, requests } = serverOf({ describeNamespace });
    assert.equal(await readRetentionMs(client), retentionMs);
    assert.deepEqual(requests, [['describeNamespace', { namespace: 'videos' }]]);
  }
  await assert.rejects(readRetentionMs(serverOf({ describeNamespace: outage }).client), outage);
  for (const [workflows, activities] of [
    [4, 1],
    [1, 4],
  ] as const) {
    const partitions = (count: number) => Array.from({ length: count }, () => ({}));
    const { client, requests } = serverOf({
      listTaskQueuePartitions: {
        workflowTaskQueuePartitions: partitions(workflows),
        activityTaskQueuePartitions: partitions(activities),
      },
    });
    assert.equal(await countPartitions(client, 'queue'), 4);
    assert.deepEqual(requests, [['listTaskQueuePartitions', { namespace: 'videos', taskQueue: { name: 'queue' } }]]);
  }
});

test('a worker polls if it has within ninety seconds, and has a version if it is versioned', async () => {
  const now = Date.now() / 1_000;
  const poller = (identity: string | undefined, agoSeconds: number, deploymentOptions?: object) => ({
    identity,
    lastAccessTime: seconds(now - agoSeconds),
    deploymentOptions,
  });
  const { client, requests } = serverOf({
    describeTaskQueue: {
      pollers: [
        poller('old', 90),
        poller('fresh', 89),
        poller('versioned', 0, { workerVersioningMode: 2, buildId: 'a' }),
        poller('unversioned', 0, { workerVersioningMode: 1, buildId: 'a' }),
        poller('unnamed version', 0, { workerVersioningMode: 2, buildId: '' }),
        { identity: 'never' },
        poller(undefined, 0),
      ],
      versioningInfo: { currentDeploymentVersion: { buildId: 'b' } },
    },
  });
  const worker = (identity: string, version?: string) => ({ identity, version });
  assert.deepEqual(await readPollers(client, 'queue', 'activity'), {
    workers: [worker('fresh'), worker('versioned', 'a'), worker('unversioned'), worker('unnamed version'), worker('')],
    currentVersion: 'b',
  });
  const none = serverOf({ describeTaskQueue: { pollers: [] } });
  assert.deepEqual(await readPollers(none.client, 'queue', 'workflow'), { workers: [], currentVersion: undefined });
  const request = { namespace: 'videos', taskQueue: { name: 'queue' } };
  assert.deepEqual(requests, [['describeTaskQueue', { ...request, taskQueueType: 2 }]]);
  assert.deepEqual(none.requests, [['describeTaskQueue', { ...request, taskQueueType: 1 }]]);
});

test('only search attributes that are missing are registered, as keywords', async () => {
  const listed = ['listSearchAttributes', { namespace: 'videos' }];
  const { client, requests } = serverOf({ listSearchAttributes: { customAttributes: { Model: 2 } } });
  assert.deepEqual(await listMissingSearchAttributes(client), ['AccountId', 'TaskState']);
  assert.deepEqual(await registerSearchAttributes(client), ['AccountId', 'TaskState']);
  const added = { namespace: 'videos', searchAttributes: { AccountId: 2, TaskState: 2 } };
  assert.deepEqual(requests, [listed, listed, ['addSearchAttributes', added]]);
  const all = serverOf({ listSearchAttributes: { customAttributes: { AccountId: 2, Model: 2, TaskState: 2 } } });
  assert.deepEqual(await registerSearchAttributes(all.client), []);
  assert.deepEqual(all.requests, [listed]);
});

const queues = taskQueuesOf('queue');
const delivery = { deliveryId: 'd', accountId: 'a' };
const running = { workflowExecutionInfo: { status: 1, execution: { runId: 'run' } } };
const [short, usual, long] = [5_000, 10_000, 30_000];

const calls: readonly (readonly [
  what: string,
  call: (client: Client) => Promise<unknown>,
  readonly number[],
  Answers?,
])[] = [
  ['the version of the server', readServerVersion, [short]],
  ['the retention', readRetentionMs, [short]],
  [
    'missing search attributes',
    listMissingSearchAttributes,
    [short],
    { listSearchAttributes: { customAttributes: {} } },
  ],
  ['search attributes', registerSearchAttributes, [long], { listSearchAttributes: { customAttributes: {} } }],
  [
    'partitions',
    (client) => countPartitions(client, 'queue'),
    [short],
    { listTaskQueuePartitions: { workflowTaskQueuePartitions: [], activityTaskQueuePartitions: [] } },
  ],
  ['pollers', (client) => readPollers(client, 'queue', 'activity'), [short], { describeTaskQueue: { pollers: [] } }],
  [
    'a start',
    (client) => createWorkflowEngine(client, queues).startTask({ taskId: 't', accountId: 'a', model: 'm' }),
    [usual],
  ],
  ['a closing', (client) => createWorkflowEngine(client, queues).startClosing('a'), [usual]],
  ['a delivery', (client) => createWorkflowEngine(client, queues).startDelivery(delivery), [usual]],
  ['a redelivery', (client) => createWorkflowEngine(client, queues).redeliver(delivery), [usual]],
  ['a cancellation', (client) => createWorkflowEngine(client, queues).cancelWorkflow('t'), [short]],
  ['a termination', (client) => createWorkflowEngine(client, queues).terminateTask('t', 'why'), [short]],
  ['a test of a provider', (client) => createWorkflowEngine(client, queues).testProvider('p'), [25_000]],
  [
    'a workflow that fails',
    (client) => describeTaskWorkflow(client, 't'),
    [short, short],
    { describeWorkflowExecution: { ...running, pendingWorkflowTask: { attempt: 2 } } },
  ],
  [
    'a deletion',
    (client) => deleteTaskHistories(client, 't'),
    [short, usual, usual, short, usual, usual, short, usual, usual],
    {
      describeWorkflowExecution: { workflowExecutionInfo: { status: 2, execution: { runId: 'run' } } },
      listWorkflowExecutions: { executions: [] },
    },
  ],
  [
    'a retry',
    (client) => endRetryPausesOfTask(client, 't'),
    [short, short],
    { describeWorkflowExecution: { ...running, pendingActivities: [{ nextAttemptScheduleTime: seconds(1) }] } },
  ],
  ['a new schedule', (client) => createMissingSchedule(client, queues, 'reconcile'), [long, long]],
  ['the state of a schedule', (client) => readScheduleState(client, queues, 'reconcile'), [long]],
  ['a run of reconcile', (client) => runReconcile(client, queues), [9 * 60_000]],
];

for (const [what, call, expected, answers] of calls) {
  test(`${what} may take ${expected.join(' + ')} ms`, async () => {
    const { client, limits } = serverOf(answers);
    await call(client);
    assert.deepEqual(limits, expected);
  });
}

test('the newest events of a failing workflow are read, and all runs of a deleted one, up to a limit', async () => {
  const failing = serverOf({ describeWorkflowExecution: { ...running, pendingWorkflowTask: { attempt: 2 } } });
  await describeTaskWorkflow(failing.client, 't');
  const execution = { workflowId: 't', runId: 'run' };
  assert.deepEqual(failing.requests.at(-1), [
    'getWorkflowExecutionHistoryReverse',
    { namespace: 'videos', execution, maximumPageSize: 30 },
  ]);
  const once = serverOf({ describeWorkflowExecution: { ...running, pendingWorkflowTask: { attempt: 1 } } });
  await describeTaskWorkflow(once.client, 't');
  assert.equal(once.requests.length, 1, 'a first attempt is no failure');
  const deleted = serverOf({ describeWorkflowExecution: notFound, listWorkflowExecutions: { executions: [] } });
  await deleteTaskHistories(deleted.client, 't');
  assert.deepEqual(deleted.requests.at(-1), [
    'listWorkflowExecutions',
    { namespace: 'videos', query: "WorkflowId = 't'", pageSize: 1000 },
  ]);
});
