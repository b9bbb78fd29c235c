import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeTaskWorkflow } from '../../../src/temporal/engine/describe-workflow.ts';

/** gRPC's NOT_FOUND, as the connection of the client throws it. */
const notFound = Object.assign(new Error('5 NOT_FOUND'), { code: 5, details: 'workflow not found', metadata: {} });

/** A client of a server that gives these answers, one after the other. */
function clientOf(answers: readonly (object | Error)[], history: readonly object[] = []): Client {
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
      getWorkflowExecutionHistoryReverse: async (request: { readonly execution: object }) => {
        assert.deepEqual(request.execution, { workflowId: 'task', runId: 'run' });
        return { history: { events: history } };
      },
    },
  };
  // All that `describeTaskWorkflow` uses of a client.
  return client as unknown as Client;
}

const running = { workflowExecutionInfo: { status: 1, execution: { runId: 'run' } }, pendingActivities: [] };

test('a workflow is missing only if a second answer confirms it', async () => {
  assert.equal((await describeTaskWorkflow(clientOf([notFound, notFound]), 'task')).status, 'missing');
  assert.equal((await describeTaskWorkflow(clientOf([notFound, running]), 'task')).status, 'running');
  assert.equal((await describeTaskWorkflow(clientOf([running]), 'task')).status, 'running');
  const unavailable = Object.assign(new Error('4 DEADLINE_EXCEEDED'), { code: 4, details: '', metadata: {} });
  await assert.rejects(describeTaskWorkflow(clientOf([notFound, unavailable]), 'task'), unavailable);
});

test('each final status of Temporal has its own name, and every other one means that the workflow runs', async () => {
  const statuses: string[] = [];
  for (const status of [1, 2, 3, 4, 5, 6, 7]) {
    const answer = { workflowExecutionInfo: { status, execution: { runId: 'run' } } };
    statuses.push((await describeTaskWorkflow(clientOf([answer]), 'task')).status);
  }
  assert.deepEqual(statuses, ['running', 'completed', 'failed', 'cancelled', 'terminated', 'running', 'timed_out']);
});

test('the activities of a workflow are listed by their types', async () => {
  const pendingActivities = [{ activityType: { name: 'generateVideo' } }, {}, { activityType: { name: 'endTask' } }];
  const described = await describeTaskWorkflow(clientOf([{ ...running, pendingActivities }]), 'task');
  assert.deepEqual(described, {
    status: 'running',
    codeFailure: undefined,
    pendingActivities: ['generateVideo', 'endTask'],
  });
});

/** `WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE` of Temporal's API. */
const unhandled = 24;
const failed = (atMs: number, message: string, cause = unhandled) => ({
  eventTime: msToTs(atMs),
  workflowTaskFailedEventAttributes: { cause, failure: { message } },
});
const timedOut = { workflowTaskTimedOutEventAttributes: {} };
const completed = { workflowTaskCompletedEventAttributes: {} };
const retriedAt = 9_000;

async function failureIn(history: readonly object[], attempt = 3) {
  const pendingWorkflowTask = { attempt, startedTime: msToTs(retriedAt) };
  return (await describeTaskWorkflow(clientOf([{ ...running, pendingWorkflowTask }], history), 'task')).codeFailure;
}

test('code has failed since its first failure after the last step that it completed', async () => {
  const history = [failed(3_000, 'third'), timedOut, failed(2_000, 'second'), completed, failed(1_000, 'first')];
  assert.deepEqual(await failureIn(history), { since: 2_000, message: 'second', retriedAt });
  assert.equal(await failureIn(history, 1), undefined, 'the first attempt at a step has not failed');
});

for (const [what, ...history] of [
  ['a timeout after a failure', timedOut, failed(1_000, 'earlier')],
  ['a processor that was busy', failed(2_000, 'Script execution timed out after 5000ms'), failed(1_000, 'earlier')],
  ['nothing'],
  ...[0, 1, 13, 17, 18, 20, 31].map(
    (cause) => [`the cause ${cause}`, failed(2_000, 'x', cause), failed(1_000, 'x')] as const,
  ),
] as const) {
  test(`a last attempt that ended by ${what} is no failure of our code`, async () => {
    assert.equal(await failureIn(history), undefined);
  });
}
