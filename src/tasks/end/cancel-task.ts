import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import type { TaskEventSink } from '../task-metric-events.ts';
import type { Database } from '../../platform/database/database.ts';
import type { TaskFailure } from '../../catalogue/tasks/task.ts';
import type { OwedNotifications } from './task-end-event-and-delivery-ids.ts';
import { cancelGraceMs, type EndedTask, failAndRefund } from './end-task-statements.ts';

// A cancellation is committed with its refund, in one statement (`failAndRefund`), and the generation is stopped after the commit. If the
// request to stop it is lost, the worker finds the ended task within seconds (`activities/running-attempts.ts`), and `reconcile` terminates
// a workflow that still runs after the grace time.

const cancelled: TaskFailure = { failCode: 'cancelled', failMsg: 'The task was cancelled.' };

/** A cancelled task; a callback and an event may be owed for it. */
export type TaskToStop = OwedNotifications & { readonly taskId: string; readonly accountId: string };

export type StopDeps = {
  /** Stops the generation of a cancelled task, and starts its deliveries if it has no workflow: in the background; never throws. */
  readonly stopTask: (task: TaskToStop) => void;
  readonly events: TaskEventSink;
};
export type CancelTaskDeps = StopDeps & { readonly db: Database };

/**
 * Ends an unfinished task with a refund, and stops its generation. A task that has ended stays unchanged. The caller has checked that the
 * task belongs to the account.
 */
export async function cancelOwnTask(deps: CancelTaskDeps, taskId: string) {
  return finishCancellation(
    deps,
    await failAndRefund(deps.db, taskId, cancelled, { terminatesAfterMs: cancelGraceMs }),
  );
}

/** As `cancelOwnTask`, but only while no upstream may make the video and no repeat of its create was answered with the task. */
export async function cancelTaskIfUnstarted(deps: CancelTaskDeps, taskId: string): Promise<void> {
  const options = { terminatesAfterMs: cancelGraceMs, onlyUnstarted: true } as const;
  const ended = await failAndRefund(deps.db, taskId, cancelled, options);
  if (ended.changed) finishCancellation(deps, ended);
}

const cancelledByOperator: TaskFailure = {
  failCode: 'cancelled',
  failMsg: 'The task was cancelled by the operator of the service.',
};

/**
 * Ends a task of any account with a refund and an entry in the audit log. The caller then stops its generation: endpoints with
 * `finishCancellation`, and the command line with a client of its own. Throws for an unknown task.
 */
export function cancelTaskAs(
  db: Database,
  actor: Actor,
  { taskId, reason }: { readonly taskId: string; readonly reason: string },
): Promise<EndedTask> {
  return changeWithAudit(db, actor, async (transaction) => {
    const answer = await failAndRefund(transaction, taskId, cancelledByOperator, { terminatesAfterMs: cancelGraceMs });
    if (!answer.changed) return { answer };
    const { accountId, creditsRefunded } = answer.task;
    return { answer, done: { action: 'tasks.cancel', accountId, taskId, details: { reason, creditsRefunded } } };
  });
}

/** After the commit: stops the generation of a task that this request has ended, counts the end, and returns the data of the response. */
export function finishCancellation(
  { stopTask, events }: StopDeps,
  { changed, task, hasCallback, hasEvent }: EndedTask,
) {
  const { taskId, accountId, state, failure, creditsRefunded } = task;
  if (state !== 'success' && state !== 'fail') throw new Error(`the task ${taskId} has not ended`);
  if (changed) {
    stopTask({ taskId, accountId, hasCallback, hasEvent });
    events.emit({ kind: 'task_ended', task });
  }
  const failCode = failure?.failCode ?? null;
  return { taskId, cancelled: failCode === 'cancelled', state, failCode, creditsRefunded };
}
