import { type Client, type WorkflowExecutionStatusName, WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { CodeFailure, WorkflowDescription, WorkflowStatus } from '../domain/ports.ts';
import { taskWorkflowId } from '../domain/task-queues.ts';
import { within } from './connect.ts';

const limitMs = 5_000;

/** Reads the state of the workflow itself; the visibility store lags behind and is never asked. */
export async function describeTask(client: Client, taskId: string): Promise<WorkflowDescription> {
  const handle = client.workflow.getHandle(taskWorkflowId(taskId));
  const described = await unlessGone(client, () => handle.describe());
  if (described === undefined) return { status: 'missing', codeFailure: undefined, pendingActivities: [] };
  const { status, raw, runId } = described;
  const next = raw.pendingWorkflowTask;
  // The number of attempts says nothing about our code: it also counts timeouts on a busy or frozen worker.
  const failed = Number(next?.attempt) > 1 ? await codeFailure(client, { taskId, runId }) : undefined;
  return {
    status: statusOf[status.name],
    codeFailure: failed && { ...failed, retriedAt: optionalTsToMs(next?.startedTime) },
    pendingActivities: raw.pendingActivities?.flatMap(({ activityType }) => activityType?.name ?? []) ?? [],
  };
}

// The values of `WorkflowTaskFailedCause` in Temporal's API that are no failure of our code: unspecified, a new event during the
// step (1, 31), causes inside the server (13, 17, 18) and an operator's reset (20).
const notOurCode: readonly number[] = [0, 1, 13, 17, 18, 20, 31];
/** Node's message for code that got no processor for seconds. */
const outOfTime = /^Script execution timed out/;
/** Enough of the newest events to hold the last attempts of a workflow task. */
const maxEvents = 30;

/**
 * Whether the last attempt in the history was a failure of our code, and when such failures began. The history records only the
 * first failed attempts of a step; the SDK lets later ones time out (both read in the sources).
 */
async function codeFailure(
  client: Client,
  { taskId, runId }: { taskId: string; runId: string },
): Promise<Pick<CodeFailure, 'since' | 'message'> | undefined> {
  const { history } = await within(client, limitMs, () =>
    client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId: taskWorkflowId(taskId), runId },
      maximumPageSize: maxEvents,
    }),
  );
  let found: Pick<CodeFailure, 'since' | 'message'> | undefined;
  for (const event of history?.events ?? []) {
    if (event.workflowTaskCompletedEventAttributes) break;
    const failed = event.workflowTaskFailedEventAttributes;
    const message = failed?.failure?.message ?? '';
    const isOurs = failed && !notOurCode.includes(failed.cause ?? 0) && !outOfTime.test(message);
    if (isOurs) found = { since: optionalTsToMs(event.eventTime) ?? Date.now(), message };
    // Newest first: the outcome of the last attempt decides.
    else if (found === undefined && (failed || event.workflowTaskTimedOutEventAttributes)) break;
  }
  return found;
}

/** What a call about a workflow answers; undefined when there is no such workflow, or none that runs. */
export async function unlessGone<T>(client: Client, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await within(client, limitMs, call);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

const statusOf: Record<WorkflowExecutionStatusName, WorkflowStatus> = {
  RUNNING: 'running',
  PAUSED: 'running',
  CONTINUED_AS_NEW: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed_out',
  UNSPECIFIED: 'running',
  UNKNOWN: 'running',
};
