import type { TaskEvents } from '../src/domain/ports.ts';
import type { TaskFailure, TaskResult, TaskState } from '../src/domain/task.ts';
import { completeTask, type EndedTask, refundTask } from '../src/stores/tasks.ts';
import { TaskError } from '../src/domain/errors.ts';
import { recordLateSuccess } from '../src/stores/provider-jobs.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { mediaKeysOf } from './task-files.ts';

/** The final state of a task, also when something else ended it. */
export type TaskEnd = {
  readonly state: TaskState;
  readonly failCode: string | undefined;
  readonly hasCallback: boolean;
};

/** Ends the task in success. A task that was refunded before stays failed: the video is not delivered, and its media is deleted. */
export function createCompleteTask({ db, media, log, onCallEnded, taskEvents }: ActivityDeps) {
  return ({ taskId, result }: { taskId: string; result: TaskResult }): Promise<TaskEnd> =>
    withActivityFailures(async () => {
      requireOwn(taskId, result);
      const { task, hasCallback } = await settled(taskEvents, () => completeTask(db, taskId, result));
      if (task.state === 'fail') {
        log.warn({ taskId, failCode: task.failure?.failCode }, 'video finished after the refund; not delivered');
        const ended = await recordLateSuccess(db, taskId);
        if (ended !== undefined) onCallEnded(ended);
        await Promise.all([media.delete(result.videoKey), media.delete(result.posterKey)]);
      }
      return { state: task.state, failCode: task.failure?.failCode, hasCallback };
    });
}

/** Ends the task in failure and gives every credit back, in one transaction. A task that is final already stays as it is. */
export function createRefundCredits({ db, log, taskEvents }: ActivityDeps) {
  return async ({ taskId, failure }: { taskId: string; failure: TaskFailure }): Promise<TaskEnd> => {
    const { task, hasCallback } = await settled(taskEvents, () => refundTask(db, taskId, failure));
    log.info(
      { taskId, state: task.state, failCode: task.failure?.failCode, refunded: task.creditsRefunded },
      'task ended',
    );
    return { state: task.state, failCode: task.failure?.failCode, hasCallback };
  };
}

/** Counts a task only where this statement ended it. */
async function settled(events: TaskEvents, end: () => Promise<EndedTask>): Promise<EndedTask> {
  const startedAt = performance.now();
  const ended = await end();
  if (ended.changed) {
    events.stage('settle', performance.now() - startedAt);
    events.ended(ended.task);
  }
  return ended;
}

/** As with staged videos: a result that an operator wrote into the history must not show, or delete, another task's video. */
function requireOwn(taskId: string, result: TaskResult | null | undefined): void {
  const { video, poster } = mediaKeysOf(taskId);
  if (result?.videoKey === video && result.posterKey === poster) return;
  const cause = new Error(`not the keys of task ${taskId}: ${JSON.stringify(result)}`);
  throw new TaskError('result_invalid', 'The stored video is not that of this task.', { cause });
}
