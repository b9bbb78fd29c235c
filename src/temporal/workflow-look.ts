import { type Client, type WorkflowExecutionStatusName, WorkflowNotFoundError } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { taskWorkflowId } from '../domain/task-queues.ts';
import { within } from './connect.ts';

type TaskStatus = 'running' | 'missing' | 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out';

/** Our code failed at a workflow's last step, and has got no further since. Times are Unix milliseconds of Temporal's clock. */
type CodeFailure = {
  /** When it failed first. */
  readonly since: number;
  /** When the try that runs now was begun; undefined while none does. */
  readonly retriedAt: number | undefined;
  readonly message: string;
};

/** What one look at a task's workflow tells. */
type WorkflowLook = {
  readonly status: TaskStatus;
  readonly codeFailure: CodeFailure | undefined;
  /** Types of the activities that are scheduled or running. */
  readonly pendingActivities: readonly string[];
};

const limitMs = 5_000;

/** Reads the state of the workflow itself; the visibility store is behind and never asked. */
export async function lookAt(client: Client, taskId: string): Promise<WorkflowLook> {
  const handle = client.workflow.getHandle(taskWorkflowId(taskId));
  const described = await unlessGone(() => within(client, limitMs, () => handle.describe()));
  if (described === undefined) return { status: 'missing', codeFailure: undefined, pendingActivities: [] };
  const { status, raw, runId } = described;
  const { pendingWorkflowTask: next } = raw;
  // The number of tries tells nothing about our code: it also counts those that ran out of time on a busy or frozen worker.
  const failed = Number(next?.attempt) > 1 ? await codeFailure(client, { taskId, runId }) : undefined;
  return {
    status: statusOf[status.name],
    codeFailure: failed && { ...failed, retriedAt: optionalTsToMs(next?.startedTime) },
    pendingActivities: raw.pendingActivities?.flatMap(({ activityType }) => activityType?.name ?? []) ?? [],
  };
}

// Of `WorkflowTaskFailedCause` in Temporal's API, those that are no failure of our code: unspecified, an event that came in
// between (1, 31), the engine's own doings (13, 17, 18) and an operator's reset (20).
const notOurCode: readonly number[] = [0, 1, 13, 17, 18, 20, 31];
/** What Node says of code that got no processor for seconds. */
const outOfTime = /^Script execution timed out/;
/** The newest events, of which the last tries of a workflow task are some. */
const maxEvents = 30;

/**
 * Whether the last try that the history records was a failure of our code, and when such failures began. The history has the first
 * failed tries of a step only; the SDK lets later ones time out (both seen in the sources), so nothing more can be known of them.
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
    // Newest first: what the last try came to decides.
    else if (found === undefined && (failed || event.workflowTaskTimedOutEventAttributes)) break;
  }
  return found;
}

/** Undefined when there is no such workflow, or none that runs. */
export async function unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

const statusOf: Record<WorkflowExecutionStatusName, TaskStatus> = {
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
