import type { TaskFailure } from '../src/domain/task.ts';
import { refundTask } from '../src/stores/tasks.ts';
import type { TaskEnd } from './complete-task.ts';
import type { ActivityDeps } from './deps.ts';

/** Ends the task in failure and gives every credit back, in one transaction. A task that is final already stays as it is. */
export function createRefundCredits({ db, log }: ActivityDeps) {
  return async ({ taskId, failure }: { taskId: string; failure: TaskFailure }): Promise<TaskEnd> => {
    const { task, hasCallback } = await refundTask(db, taskId, failure);
    log.info(
      { taskId, state: task.state, failCode: task.failure?.failCode, refunded: task.creditsRefunded },
      'task ended',
    );
    return { state: task.state, failCode: task.failure?.failCode, hasCallback };
  };
}
