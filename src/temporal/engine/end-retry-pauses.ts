import type { Client } from '@temporalio/client';
import { callWithin } from '../connection/connect.ts';
import { describeWorkflow } from './describe-workflow.ts';
import { taskWorkflowId } from '../connection/queue-names-and-workflow-ids.ts';

const limitMs = 5_000;

/**
 * Ends the pauses before the next attempts of a task's activities. Should an attempt begin between the two calls, Temporal requests it to
 * stop, and the next one continues its job: our database has the job before it is created.
 */
export async function endRetryPausesOfTask(client: Client, taskId: string): Promise<boolean> {
  const workflowId = taskWorkflowId(taskId);
  const described = await describeWorkflow(client, workflowId);
  if (described?.status !== 'running') return false;
  const { raw, runId } = described;
  // Temporal names the time of the next attempt during a pause only.
  const paused = raw.pendingActivities?.filter(({ nextAttemptScheduleTime }) => nextAttemptScheduleTime) ?? [];
  const { namespace, identity } = client.options;
  const execution = { workflowId, runId };
  for (const { activityId } of paused)
    await callWithin(client, limitMs, () =>
      client.workflowService.resetActivity({ namespace, identity, execution, id: activityId ?? '' }),
    );
  return paused.length > 0;
}
