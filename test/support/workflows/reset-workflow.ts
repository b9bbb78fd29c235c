import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';

/** Runs a workflow again from its first workflow task, also when it has ended, as an operator does in the Temporal UI. */
export async function resetToFirstStep(client: Client, workflowId: string): Promise<void> {
  const handle = client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const firstStep = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
  if (firstStep === undefined || firstStep === null) throw new Error(`workflow ${workflowId} has made no step yet`);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: firstStep,
    requestId: uuidv7(),
    reason: 'by a test',
  });
}
