import type { TaskResult, TaskState } from '../src/domain/task.ts';
import { completeTask } from '../src/stores/end-task.ts';
import { recordLateSuccess } from '../src/stores/provider-jobs.ts';
import type { ActivityDeps } from './deps.ts';

/** How a task ended, whoever ended it. */
export type TaskEnd = {
  readonly state: TaskState;
  readonly failCode: string | undefined;
  readonly hasCallback: boolean;
};

/** Ends the task in success. When it was refunded before, it stays so: the video is never delivered, and its media is deleted. */
export function createCompleteTask({ db, media, log }: ActivityDeps) {
  return async ({ taskId, result }: { taskId: string; result: TaskResult }): Promise<TaskEnd> => {
    const { task, hasCallback } = await completeTask(db, taskId, result);
    if (task.state === 'fail') {
      log.warn({ taskId, failCode: task.failure?.failCode }, 'video finished after the refund; not delivered');
      await recordLateSuccess(db, taskId);
      await Promise.all([media.delete(result.videoKey), media.delete(result.posterKey)]);
    }
    return { state: task.state, failCode: task.failure?.failCode, hasCallback };
  };
}
