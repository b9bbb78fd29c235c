import type { Client } from '@temporalio/client';
import type { testProvider as workflow } from '../../../workflows/index.ts';
import { callWithin } from '../connection/connect.ts';
import type { TaskQueues } from '../connection/task-queues.ts';

/** More than the timeouts of the workflow's activity. */
const limitMs = 25_000;

/**
 * Tests a provider on a worker. Simultaneous tests of a provider share one
 * workflow. Rejects if no worker runs it in time.
 */
export function runProviderTest(client: Client, queues: TaskQueues, provider: string) {
  return callWithin(client, limitMs, () =>
    client.workflow.execute<typeof workflow>('testProvider', {
      workflowId: `${queues.tasks}-test-provider-${provider}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      // A timeout leaves nothing to clean up.
      workflowExecutionTimeout: limitMs,
      taskQueue: queues.tasks,
      args: [{ provider }],
      staticSummary: `test of provider ${provider}`,
    }),
  );
}
