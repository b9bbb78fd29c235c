import type { Actor } from '../domain/operator.ts';
import type { TaskFailure } from '../domain/task.ts';
import type { Database } from './database.ts';
import { askForRedelivery, type Delivery } from './deliveries.ts';
import { cancelGraceMs, type EndedTask, refundTask } from './end-task.ts';
import { recordAction } from './operator-actions.ts';

const cancelled: TaskFailure = {
  failCode: 'cancelled',
  failMsg: 'The task was cancelled by the operator of the service.',
};

/** Ends a task of any account in `fail`, with its refund. A final task keeps its state. Throws for an unknown task. */
export function cancelTaskAs(
  db: Database,
  actor: Actor,
  { taskId, reason }: { readonly taskId: string; readonly reason: string },
): Promise<EndedTask> {
  return recordAction(db, actor, async (transaction) => {
    const answer = await refundTask(transaction, taskId, cancelled, { terminatesAfterMs: cancelGraceMs });
    if (!answer.changed) return { answer };
    const { accountId, creditsRefunded } = answer.task;
    return { answer, done: { action: 'tasks.cancel', accountId, taskId, details: { reason, creditsRefunded } } };
  });
}

/** Owes the callback of a task of any account anew; undefined when there is none to send. */
export function redeliverAs(db: Database, actor: Actor, taskId: string): Promise<Delivery | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const answer = await askForRedelivery(transaction, taskId);
    if (answer === undefined) return { answer };
    const { accountId, round } = answer;
    return { answer, done: { action: 'callbacks.redeliver', accountId, taskId, details: { round } } };
  });
}
