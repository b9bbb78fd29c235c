import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { housekeepingSteps } from '../../../src/temporal/schedules/housekeeping-steps.ts';
import {
  createMissingSchedule,
  ensureSchedules,
  readScheduleState,
  runReconcile,
} from '../../../src/temporal/schedules/schedules.ts';

const queues = taskQueuesOf('queue');

type Action = { readonly workflowId: string; readonly workflowType: string; readonly args: readonly unknown[] };
type Created = {
  readonly scheduleId: string;
  readonly spec: unknown;
  readonly policies: unknown;
  readonly action: Action;
};
type Change = (before: object) => object;

/** A server that has the schedules, or has none, and notes what is requested. */
function clientOf(exists: boolean, error?: Error) {
  const created: Created[] = [];
  const updated: object[] = [];
  const triggered: unknown[] = [];
  const executed: unknown[] = [];
  const before = {
    spec: 'of an operator',
    policies: 'of an operator',
    state: 'paused',
    action: 'old',
    memo: 'unknown',
  };
  const client = {
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    schedule: {
      create: async (options: Created) => {
        if (error !== undefined) throw error;
        if (exists) throw new ScheduleAlreadyRunning('it exists', options.scheduleId);
        created.push(options);
      },
      getHandle: (id: string) => ({
        update: async (change: Change) => void updated.push(change(before)),
        trigger: async (overlap: unknown) => void triggered.push([id, overlap]),
        describe: async () => {
          if (error !== undefined) throw error;
          if (!exists) throw new ScheduleNotFoundError('not found', id);
          return { state: { paused: id === 'queue-reconcile' } };
        },
      }),
    },
    workflow: { execute: async (...values: unknown[]) => (executed.push(values), { started: 1 }) },
  };
  // All that these functions use of a client.
  return { client: client as unknown as Client, created, updated, triggered, executed };
}

const rows = [
  ['queue-reconcile', 'reconcile', [], '1m', '8m'],
  ['queue-housekeeping', 'housekeeping', [housekeepingSteps], '10m', '2h'],
  ['queue-reconcile-payments', 'reconcilePayments', [], '1h', '55m'],
  ['queue-audit-recent', 'audit', ['recent'], '1h', '50m'],
  ['queue-audit-full', 'audit', ['full'], '1d', '20h'],
] as const;

test('each missing schedule is created with its workflow, interval and timeout, skips a run beside another, and runs now', async () => {
  const { client, created, updated, triggered } = clientOf(false);
  await ensureSchedules(client, queues);
  for (const [index, [id, workflowType, args, every, workflowRunTimeout]] of rows.entries()) {
    const { action, ...options } = created[index] ?? assert.fail();
    assert.deepEqual(options, {
      scheduleId: id,
      spec: { intervals: [{ every }] },
      policies: { overlap: 'SKIP', catchupWindow: every },
    });
    const { staticSummary, ...others } = action as Action & { readonly staticSummary: string };
    assert.ok(staticSummary.length > 0);
    const type = 'startWorkflow';
    assert.deepEqual(others, { type, workflowType, workflowId: id, taskQueue: 'queue', args, workflowRunTimeout });
  }
  assert.deepEqual([created.length, updated], [rows.length, []]);
  assert.deepEqual(
    triggered,
    rows.map(([id]) => [id, 'SKIP']),
  );
});

test('of an existing schedule only the action is renewed, and only `reconcile` runs now', async () => {
  const { client, created, updated, triggered } = clientOf(true);
  await ensureSchedules(client, queues);
  assert.deepEqual([created, triggered], [[], [['queue-reconcile', 'SKIP']]]);
  const kept = { spec: 'of an operator', policies: 'of an operator', state: 'paused' };
  for (const [index, [workflowId]] of rows.entries()) {
    const { action, ...others } = updated[index] as { readonly action: Action };
    assert.deepEqual([others, action.workflowId], [kept, workflowId]);
  }
});

test('a schedule is active, paused or missing', async () => {
  const { client } = clientOf(true);
  assert.deepEqual(await readScheduleState(client, queues, 'reconcile'), { id: 'queue-reconcile', state: 'paused' });
  assert.deepEqual(await readScheduleState(client, queues, 'audit-full'), { id: 'queue-audit-full', state: 'active' });
  const { state } = await readScheduleState(clientOf(false).client, queues, 'reconcile');
  assert.equal(state, 'missing');
  // Without the SDK's own error, which it does not make of every answer.
  const ofServer = (code: number) => Object.assign(new Error('a test'), { code, details: '', metadata: {} });
  const { client: bare } = clientOf(false, ofServer(5));
  assert.deepEqual(await readScheduleState(bare, queues, 'reconcile'), { id: 'queue-reconcile', state: 'missing' });
  const outage = ofServer(14);
  const { client: down, triggered } = clientOf(false, outage);
  await assert.rejects(readScheduleState(down, queues, 'reconcile'), outage);
  await assert.rejects(createMissingSchedule(down, queues, 'reconcile'), outage);
  assert.deepEqual(triggered, []);
});

test('`reconcile` runs on demand under an id of its own, which concurrent demands share', async () => {
  const { client, executed } = clientOf(true);
  assert.deepEqual(await runReconcile(client, queues), { started: 1 });
  const options = {
    workflowId: 'queue-reconcile-on-demand',
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: 'queue',
    workflowRunTimeout: '8m',
    staticSummary: 'repair unfinished tasks, callbacks and provider jobs',
  };
  assert.deepEqual(executed, [['reconcile', options]]);
});
