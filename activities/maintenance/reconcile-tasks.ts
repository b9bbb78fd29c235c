import { maxQueueMs } from '../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { payloadKeyErrorPrefix } from '../../src/temporal/connection/payload-keys.ts';
import type {
  CodeFailure,
  WorkflowEngine,
  WorkflowDescription,
  WorkflowStatus,
} from '../../src/catalogue/tasks/workflow-engine.ts';
import type { TaskFailure } from '../../src/catalogue/tasks/task.ts';
import {
  listDueTerminations,
  removeTermination,
  type WorkflowTermination,
} from '../../src/tasks/list/workflow-terminations.ts';
import {
  listUnfinishedTasks,
  recordStuckSince,
  type UnfinishedTask,
} from '../../src/tasks/list/unfinished-and-stuck-tasks.ts';
import { markTasksReconciled } from '../../src/credits/last-checks-and-findings.ts';
import { owedDeliveryIds } from '../../src/tasks/end/task-end-event-and-delivery-ids.ts';
import { failAndRefund } from '../../src/tasks/end/end-task-statements.ts';
import { processRowsFromStoredCursor, type RowProcessingDeps } from './process-rows-from-cursor.ts';

export type ReconcileTasksDeps = RowProcessingDeps & {
  readonly engine: Pick<WorkflowEngine, 'startTask' | 'describeTask' | 'terminateTask' | 'startDelivery'>;
  /** A task whose workflow's code fails is refunded after this time, so that an operator can roll a bad release back. */
  readonly stuckTaskMs: number;
};

/** A younger task is left to the process that accepted it. */
export const startGraceMs = 10_000;
/** A workflow task that can continue does so within this time, on a machine that is not overloaded. */
const stepMs = 15_000;
/**
 * After a running generation's limits, which activity and workflow enforce themselves (workflows/activity-proxies.ts), for when neither runs.
 * The wait for a worker or a slot ends here first: the workflow's own limit of it is later by the deadline.
 */
export const deadlineGraceMs = 2 * 60_000;

/**
 * Starts accepted tasks that have no workflow, in order of arrival. Refunds those whose workflow has ended, is stuck or is long
 * overdue, and starts their callbacks and events. Then ends the workflows that still run although their task is final.
 */
export function createReconcileTasksActivity(deps: ReconcileTasksDeps) {
  return async () => {
    const counts = { started: 0, refunded: 0 };
    const { failed } = await processRowsFromStoredCursor<UnfinishedTask>(deps, {
      name: 'reconcile-tasks',
      page: ({ after, limit }) => listUnfinishedTasks(deps.db, { minAgeMs: startGraceMs, after: after?.taskId, limit }),
      work: async (task) => {
        const outcome = await reconcileTask(deps, task);
        if (outcome === 'left') return;
        counts[outcome] += 1;
        deps.events.emit({ kind: 'task_reconciled', outcome });
      },
    });
    await markTasksReconciled(deps.db);
    await terminateWorkflows(deps);
    return { ...counts, failed };
  };
}

async function reconcileTask(deps: ReconcileTasksDeps, task: UnfinishedTask): Promise<'started' | 'refunded' | 'left'> {
  const { taskId } = task;
  const hasWaited = hasWaitedTooLong(task);
  // `startTask` does not start a workflow that exists already, even if it has ended. A task that is about to be refunded is not started.
  if (task.state === 'waiting' && !hasWaited && (await deps.engine.startTask(task))) return 'started';
  const workflow = await deps.engine.describeTask(taskId);
  if (workflow.codeFailure !== undefined || task.isStuck) await reportStuck(deps, task, workflow.codeFailure);
  const failure = hasWaited ? failureAfter.timed_out : findFailure(task, workflow, deps.stuckTaskMs);
  if (failure === undefined) return 'left';
  // The refund and the true reason come first, so that the termination below is never read as an operator's. The workflow may
  // have ended the task since the listing; then this changes nothing.
  const ended = await failAndRefund(
    deps.db,
    taskId,
    failure,
    workflow.status === 'running' ? { terminatesAfterMs: 0 } : {},
  );
  if (!ended.changed) return 'left';
  deps.events.emit({ kind: 'task_ended', task: ended.task });
  deps.log.warn({ taskId, ...workflow, failCode: failure.failCode }, 'task refunded by reconcile');
  for (const deliveryId of owedDeliveryIds(taskId, ended))
    await deps.engine.startDelivery({ deliveryId, accountId: task.accountId });
  return 'refunded';
}

/** The alert precedes the refund: a log line, and the metric `videogen_stuck_tasks`. */
async function reportStuck(deps: ReconcileTasksDeps, { taskId }: UnfinishedTask, failure: CodeFailure | undefined) {
  if ((await recordStuckSince(deps.db, taskId, failure?.since)) === undefined) return;
  if (failure === undefined) deps.log.info({ taskId }, 'workflow code recovered');
  else if (isMissingKey(failure))
    deps.log.error({ taskId, ...failure }, 'payload key missing; add it to TEMPORAL_PAYLOAD_KEYS, tasks wait for it');
  else deps.log.error({ taskId, ...failure }, 'workflow code failed; roll back the release, or the task is refunded');
}

/** Every task continues once the key is configured, so none is refunded because its key is missing. */
function isMissingKey({ message }: CodeFailure): boolean {
  return message.startsWith(payloadKeyErrorPrefix);
}

/** Returns why the workflow will never end its task, or undefined when it may. */
function findFailure(task: UnfinishedTask, workflow: WorkflowDescription, stuckTaskMs: number) {
  const { status, codeFailure } = workflow;
  if (status !== 'running') return failureAfter[status];
  if (codeFailure !== undefined && isMissingKey(codeFailure)) return undefined;
  if (codeFailure !== undefined && isPermanent(codeFailure, stuckTaskMs)) return serviceFailure;
  return isOverdue(task, workflow) ? failureAfter.timed_out : undefined;
}

/**
 * Attempts are up to ten minutes apart. So an old failure is not enough: an attempt that began after the time limit must have
 * failed, too, or a release that was just repaired would not get its attempt.
 */
function isPermanent({ since, retriedAt }: CodeFailure, stuckTaskMs: number): boolean {
  return retriedAt !== undefined && retriedAt - since >= stuckTaskMs && Date.now() - retriedAt >= stepMs;
}

/** Measured by the database's clock. A running generation may be paid for, so its deadline limits it instead. */
function hasWaitedTooLong({ ageMs, ranMs, isGenerating }: UnfinishedTask): boolean {
  return !isGenerating && ageMs - ranMs > maxQueueMs + deadlineGraceMs;
}

/** Measured by the database's clock. Fetching a video that is paid for may take as long as its deadline again. */
function isOverdue(task: UnfinishedTask, { pendingActivities }: WorkflowDescription): boolean {
  const { ranMs, deadlineMs, isFetching } = task;
  const limitMs = isFetching ? 2 * deadlineMs : deadlineMs;
  return pendingActivities.includes('generateVideo') && ranMs > limitMs + deadlineGraceMs;
}

/** Driven by the rows that were written with the refunds, so that neither a crash nor an outage of Temporal loses one. */
async function terminateWorkflows(deps: ReconcileTasksDeps): Promise<void> {
  await processRowsFromStoredCursor<WorkflowTermination>(deps, {
    name: 'terminate-workflows',
    page: (page) => listDueTerminations(deps.db, page),
    work: async ({ taskId, reason }) => {
      await deps.engine.terminateTask(taskId, reason);
      await removeTermination(deps.db, taskId);
      deps.events.emit({ kind: 'reconcile_finding', finding: 'workflow_left' });
    },
  });
}

const serviceFailure: TaskFailure = {
  failCode: 'internal',
  failMsg: 'The task failed because of an error of the service.',
};
const noResult: TaskFailure = { failCode: 'internal', failMsg: 'The task ended without a result.' };

const failureAfter: Record<Exclude<WorkflowStatus, 'running'>, TaskFailure> = {
  missing: { failCode: 'terminated', failMsg: 'The service lost the state of the task, or an operator removed it.' },
  completed: noResult,
  failed: noResult,
  cancelled: { failCode: 'cancelled', failMsg: 'The task was cancelled.' },
  terminated: { failCode: 'terminated', failMsg: 'The task was terminated by an operator.' },
  timed_out: { failCode: 'timeout', failMsg: 'The task was not finished in time.' },
};
