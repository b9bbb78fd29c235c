import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTask } from '../../../src/temporal/workflows/describe-task.ts';

/** gRPC's NOT_FOUND, as the connection of the client throws it. */
const notFound = Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: 'workflow not found', metadata: {} });

/** A client of a server that gives these answers, one after the other. */
function clientOf(answers: readonly (object | Error)[]): Client {
  const left = [...answers];
  const client = {
    options: { namespace: 'default' },
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflowService: {
      describeWorkflowExecution: async () => {
        const answer = left.shift() ?? assert.fail('no further request is needed');
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  };
  // All that `describeTask` uses of a client.
  return client as unknown as Client;
}

const running = { workflowExecutionInfo: { status: 1, execution: { runId: 'run' } }, pendingActivities: [] };

test('a workflow is missing only if a second answer confirms it', async () => {
  assert.equal((await describeTask(clientOf([notFound, notFound]), 'task')).status, 'missing');
  assert.equal((await describeTask(clientOf([notFound, running]), 'task')).status, 'running');
  assert.equal((await describeTask(clientOf([running]), 'task')).status, 'running');
  const unavailable = Object.assign(new Error('4 DEADLINE_EXCEEDED'), { code: 4, details: '', metadata: {} });
  await assert.rejects(describeTask(clientOf([notFound, unavailable]), 'task'), unavailable);
});
