import type { Client } from '@temporalio/client';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endRetryPausesOfTask } from '../../../src/temporal/engine/end-retry-pauses.ts';

type Pending = { readonly activityId: string; readonly nextAttemptScheduleTime?: { readonly seconds: number } };
const waiting = { nextAttemptScheduleTime: { seconds: 4_102_444_800 } };

/** A client of a server with one workflow, which runs unless `status` says otherwise; `reset` has what is requested. */
function clientOf(pendingActivities: readonly Pending[], reset: unknown[], status = 1): Client {
  const client = {
    options: { namespace: 'videos', identity: 'an operator' },
    connection: { withDeadline: (_deadline: number, call: () => Promise<unknown>) => call() },
    workflowService: {
      describeWorkflowExecution: async () => ({
        workflowExecutionInfo: { status, execution: { runId: 'run' } },
        pendingActivities,
      }),
      resetActivity: async (request: unknown) => void reset.push(request),
    },
  };
  // All that `endRetryPausesOfTask` uses of a client.
  return client as unknown as Client;
}

test('every activity that waits for its next attempt is reset, also behind one whose attempt runs, and no other', async () => {
  const reset: unknown[] = [];
  const pending = [
    { activityId: 'runs' },
    { activityId: 'waits', ...waiting },
    { activityId: 'runs too' },
    { activityId: 'waits too', ...waiting },
  ];
  assert.equal(await endRetryPausesOfTask(clientOf(pending, reset), 'task'), true);
  const common = { namespace: 'videos', identity: 'an operator', execution: { workflowId: 'task', runId: 'run' } };
  assert.deepEqual(reset, [
    { ...common, id: 'waits' },
    { ...common, id: 'waits too' },
  ]);
});

test('nothing is reset, and that is the answer, if no attempt waits or the workflow has ended', async () => {
  const reset: unknown[] = [];
  assert.equal(await endRetryPausesOfTask(clientOf([{ activityId: 'runs' }], reset), 'task'), false);
  assert.equal(await endRetryPausesOfTask(clientOf([{ activityId: 'waits', ...waiting }], reset, 2), 'task'), false);
  assert.deepEqual(reset, []);
});
