import type { HttpDeps } from '../http/http-deps.ts';
import type { TaskFailure } from './task.ts';
import { cancelGraceMs, type EndedTask, refundTask } from './tasks.ts';

const cancelled: TaskFailure = { failCode: 'cancelled', failMsg: 'The task was cancelled.' };

/** Ends an unfinished task of the caller with a refund. A task that has ended stays unchanged. */
export async function cancelTaskFor(deps: HttpDeps, taskId: string) {
  return stopEndedTask(deps, await refundTask(deps.db, taskId, cancelled, { terminatesAfterMs: cancelGraceMs }));
}

export function stopEndedTask({ stopTask, events }: HttpDeps, { changed, task, hasCallback, hasEvent }: EndedTask) {
  const { taskId, accountId, state, failure, creditsRefunded } = task;
  if (state !== 'success' && state !== 'fail') throw new Error(`the task ${taskId} has not ended`);
  if (changed) {
    stopTask({ taskId, accountId, hasCallback, hasEvent });
    events.emit({ kind: 'task_ended', task });
  }
  const failCode = failure?.failCode ?? null;
  return { taskId, cancelled: failCode === 'cancelled', state, failCode, creditsRefunded };
}
