import { TaskFault } from '../src/domain/errors.ts';
import type { TaskResult, TaskState } from '../src/domain/task.ts';
import { completeTask } from '../src/stores/tasks.ts';
import { recordLateSuccess } from '../src/stores/provider-jobs.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { mediaKeysOf } from './media-keys.ts';

/** How a task ended, whoever ended it. */
export type TaskEnd = {
  readonly state: TaskState;
  readonly failCode: string | undefined;
  readonly hasCallback: boolean;
};

/** Ends the task in success. When it was refunded before, it stays so: the video is never delivered, and its media is deleted. */
export function createCompleteTask({ db, media, log }: ActivityDeps) {
  return ({ taskId, result }: { taskId: string; result: TaskResult }): Promise<TaskEnd> =>
    withActivityFailures(async () => {
      requireOwn(taskId, result);
      const { task, hasCallback } = await completeTask(db, taskId, result);
      if (task.state === 'fail') {
        log.warn({ taskId, failCode: task.failure?.failCode }, 'video finished after the refund; not delivered');
        await recordLateSuccess(db, taskId);
        await Promise.all([media.delete(result.videoKey), media.delete(result.posterKey)]);
      }
      return { state: task.state, failCode: task.failure?.failCode, hasCallback };
    });
}

/** As with what is staged: a result that an operator wrote into the history must not show, or delete, another task's video. */
function requireOwn(taskId: string, result: TaskResult | null | undefined): void {
  const { video, poster } = mediaKeysOf(taskId);
  if (result?.videoKey === video && result.posterKey === poster) return;
  const cause = new Error(`not the keys of task ${taskId}: ${JSON.stringify(result)}`);
  throw new TaskFault('result_invalid', 'The stored video is not that of this task.', { cause });
}
