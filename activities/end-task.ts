import { keysOf, type TaskFailure, type TaskResult, type TaskState } from '../src/tasks/task.ts';
import { completeTask, type EndedTask, failAndRefund } from '../src/tasks/tasks.ts';
import { TaskError } from '../src/platform/errors.ts';
import { recordLateSuccess } from '../src/providers/job-ends.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import { resultKeysOf } from './task-files.ts';

/** The final state of a task, also when another process has ended it. */
export type TaskEnd = {
  readonly state: TaskState;
  readonly failCode: string | undefined;
  readonly hasCallback: boolean;
  /** Absent in histories of tasks whose account has no event endpoint. */
  readonly hasEvent?: true;
};

/** Ends the task in success. A task that was refunded before stays failed: the video is not delivered, and its media is deleted. */
export function createCompleteTask(deps: ActivityDeps) {
  const { db, media, log, events } = deps;
  return ({ taskId, result }: { taskId: string; result: TaskResult }): Promise<TaskEnd> =>
    withActivityFailures(async () => {
      requireOwn(taskId, result);
      const end = await endCounted(deps, () => completeTask(db, taskId, result));
      if (end.state === 'fail') {
        log.warn({ taskId, failCode: end.failCode }, 'video finished after the refund; not delivered');
        const job = await recordLateSuccess(db, taskId);
        if (job !== undefined) events.emit({ kind: 'job_ended', job });
        await Promise.all(keysOf(result).map((key) => media.delete(key)));
      }
      return end;
    });
}

/** Ends the task in failure and refunds every credit, in one statement. A final task does not change. */
export function createRefundCredits(deps: ActivityDeps) {
  return async ({ taskId, failure }: { taskId: string; failure: TaskFailure }): Promise<TaskEnd> => {
    const end = await endCounted(deps, () => failAndRefund(deps.db, taskId, failure));
    deps.log.info({ taskId, state: end.state, failCode: end.failCode }, 'task ended');
    return end;
  };
}

/** Counts a task only where this statement ended it. */
async function endCounted({ events }: ActivityDeps, endTask: () => Promise<EndedTask>): Promise<TaskEnd> {
  const startedAt = performance.now();
  const { task, changed, hasCallback, hasEvent } = await endTask();
  if (changed) {
    events.emit({ kind: 'stage_ended', stage: 'end', durationMs: performance.now() - startedAt });
    events.emit({ kind: 'task_ended', task });
  }
  return { state: task.state, failCode: task.failure?.failCode, hasCallback, ...(hasEvent && { hasEvent }) };
}

/** A result that an operator wrote into the history must not show, or delete, another task's video. */
function requireOwn(taskId: string, result: TaskResult | null | undefined): void {
  const { video, poster, lastFrame } = resultKeysOf(taskId, String(result?.sha256));
  const isOwnFrame = result?.lastFrameKey === undefined || result.lastFrameKey === lastFrame;
  if (result?.videoKey === video && result.posterKey === poster && isOwnFrame) return;
  const cause = new Error(`not the keys of task ${taskId}: ${JSON.stringify(result)}`);
  throw new TaskError('result_invalid', 'The stored video is not that of this task.', { cause });
}
