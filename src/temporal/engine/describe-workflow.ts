import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { CodeFailure, WorkflowDescription, WorkflowStatus } from '../../catalogue/tasks/workflow-engine.ts';
import { taskWorkflowId } from '../connection/queue-names-and-workflow-ids.ts';
import { isNotFound, callWithin } from '../connection/connect.ts';

const limitMs = 5_000;

/** Reads the state of the workflow itself, because the visibility store lags behind. */
export async function describeTaskWorkflow(client: Client, taskId: string): Promise<WorkflowDescription> {
  const workflowId = taskWorkflowId(taskId);
  // A second answer must confirm that the workflow is missing: an overloaded server that ran out of time has once denied one that ran.
  const described = (await describeWorkflow(client, workflowId)) ?? (await describeWorkflow(client, workflowId));
  if (described === undefined) return { status: 'missing', codeFailure: undefined, pendingActivities: [] };
  const { status, raw, runId } = described;
  const next = raw.pendingWorkflowTask;
  // The number of attempts proves no failure of our code: it also counts timeouts on a busy or frozen worker.
  const failed = Number(next?.attempt) > 1 ? await codeFailure(client, { taskId, runId }) : undefined;
  return {
    status,
    codeFailure: failed && { ...failed, retriedAt: optionalTsToMs(next?.startedTime) },
    pendingActivities: raw.pendingActivities?.flatMap(({ activityType }) => activityType?.name ?? []) ?? [],
  };
}

/** Uses the raw description, because the SDK's fails if payloads cannot be decrypted. */
export async function describeWorkflow(client: Client, workflowId: string) {
  const { namespace } = client.options;
  const raw = await callWithin(client, limitMs, () =>
    client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
  ).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (raw === undefined) return undefined;
  const { status, execution } = raw.workflowExecutionInfo ?? {};
  return { status: statusOf.get(Number(status)) ?? 'running', runId: execution?.runId ?? '', raw } as const;
}

// The values of `WorkflowTaskFailedCause` in Temporal's API that are no failure of our code: unspecified, a new event during the
// step (1, 31), causes inside the server (13, 17, 18) and an operator's reset (20).
const notOurCode: readonly number[] = [0, 1, 13, 17, 18, 20, 31];
/** Node's message for code that got no processor for seconds. */
const outOfTime = /^Script execution timed out/;
/** Enough of the newest events to hold the last attempts of a workflow task. */
const maxEvents = 30;

/**
 * Returns when failures of our code began, if the last attempt in the history was one. The history records only the first failed
 * attempts of a step; the SDK lets later ones time out (according to the sources of both).
 */
async function codeFailure(
  client: Client,
  { taskId, runId }: { taskId: string; runId: string },
): Promise<Pick<CodeFailure, 'since' | 'message'> | undefined> {
  const { history } = await callWithin(client, limitMs, () =>
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

/** Returns undefined if the workflow does not exist or has ended. */
export async function unlessMissing<T>(client: Client, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await callWithin(client, limitMs, call);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The final values of `WorkflowExecutionStatus` in Temporal's API. */
const statusOf: ReadonlyMap<number, Exclude<WorkflowStatus, 'missing'>> = new Map([
  [2, 'completed'],
  [3, 'failed'],
  [4, 'cancelled'],
  [5, 'terminated'],
  [7, 'timed_out'],
]);
