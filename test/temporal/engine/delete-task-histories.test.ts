import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskEventId } from '../../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { deleteTaskHistories } from '../../../src/temporal/engine/delete-task-histories.ts';

/** gRPC's NOT_FOUND, as the connection of the client throws it. */
const notFound = Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: 'workflow not found', metadata: {} });

const taskId = '01a22896-70f8-75e0-855e-c350be7e0299';
const callback = `callback-${taskId}`;
const event = `callback-${taskEventId(taskId)}`;

type Workflow = { readonly isRunning?: boolean; readonly run?: string; readonly listed?: readonly string[] };
type Description = { readonly namespace: string; readonly execution: { readonly workflowId: string } };
type Execution = {
  readonly namespace: string;
  readonly workflowExecution: { readonly workflowId: string; readonly runId: string };
};

/** A server with these workflows; notes what is terminated and deleted. */
function clientOf(workflows: Readonly<Record<string, Workflow>>, deletion?: Error) {
  const ended: string[] = [];
  const client = {
    options: { namespace: 'videos' },
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflow: {
      getHandle: (workflowId: string) => ({
        terminate: async (reason: string) => {
          ended.push(`terminated ${workflowId}: ${reason}`);
          // It has ended since it was described.
          throw new WorkflowNotFoundError('not found', workflowId, undefined);
        },
      }),
    },
    workflowService: {
      describeWorkflowExecution: async ({ namespace, execution: { workflowId } }: Description) => {
        assert.equal(namespace, 'videos');
        const { isRunning = false, run } = workflows[workflowId] ?? {};
        if (run === undefined) throw notFound;
        return { workflowExecutionInfo: { status: isRunning ? 1 : 2, execution: { runId: run } } };
      },
      listWorkflowExecutions: async ({ namespace, query }: { namespace: string; query: string }) => {
        assert.equal(namespace, 'videos');
        const workflowId = /^WorkflowId = '(.*)'$/.exec(query)?.[1] ?? '';
        return { executions: (workflows[workflowId]?.listed ?? []).map((runId) => ({ execution: { runId } })) };
      },
      deleteWorkflowExecution: async ({ namespace, workflowExecution: { workflowId, runId } }: Execution) => {
        assert.equal(namespace, 'videos');
        ended.push(`deleted ${workflowId} ${runId}`);
        if (deletion !== undefined) throw deletion;
      },
    },
  };
  // All that `deleteTaskHistories` uses of a client.
  return { client: client as unknown as Client, ended };
}

test('every run of a task, its callback and its event is deleted once, also one that is not listed yet or has gone meanwhile', async () => {
  const workflows = {
    [taskId]: { run: 'b', listed: ['a', 'b'] },
    [callback]: { run: 'c', listed: [] },
    [event]: { listed: ['d'] },
  };
  const { client, ended } = clientOf(workflows, notFound);
  assert.equal(await deleteTaskHistories(client, taskId), true);
  const deleted = [`${callback} c`, `${event} d`, `${taskId} b`, `${taskId} a`];
  assert.deepEqual(
    ended,
    deleted.map((run) => `deleted ${run}`),
  );
});

test('deliveries that run are ended, and the workflow of the task is left until it has ended', async () => {
  const running = { isRunning: true, run: 'a', listed: ['a'] };
  const { client, ended } = clientOf({ [taskId]: running, [event]: running });
  assert.equal(await deleteTaskHistories(client, taskId), false);
  assert.deepEqual(ended, [`terminated ${event}: the content of the task was deleted`, `deleted ${event} a`]);
});

test('a run that cannot be deleted is an error, so that the deletion is repeated', async () => {
  const unavailable = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: '', metadata: {} });
  const { client } = clientOf({ [taskId]: { run: 'a', listed: [] } }, unavailable);
  await assert.rejects(deleteTaskHistories(client, taskId), unavailable);
});
