import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { callbackWorkflowId } from '../src/domain/task-queues.ts';
import { deliverCallback, type DeliverCallbackInput } from './deliver-callback.ts';

/**
 * Starts the delivery as a workflow of its own that outlives the task. It must have started before the parent returns,
 * else it never does; one that runs already (after a reset, or started by reconcile) is left alone.
 */
export async function startCallback(delivery: DeliverCallbackInput): Promise<void> {
  const { taskId } = delivery;
  try {
    await startChild(deliverCallback, {
      workflowId: callbackWorkflowId(taskId),
      args: [delivery],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `callback of task ${taskId}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
