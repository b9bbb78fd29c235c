import { isFinal, type Task, type TaskState } from './task.ts';

/** `data` of recordInfo and of every callback. Times are Unix milliseconds. */
export type TaskRecord = Readonly<ReturnType<typeof taskRecord>>;

/**
 * The record a client sees. `progress` (0 to 100) is what the engine knows of a live task; a successful one is
 * always at 100. `resultUrls` are links signed for this very reading and are shown for a successful task only.
 */
export function taskRecord(task: Task, progress: number, resultUrls: readonly string[]) {
  return {
    taskId: task.taskId,
    model: task.param.model,
    state: task.state,
    progress: progressOf(task.state, progress),
    param: task.param,
    resultJson: { resultUrls: task.state === 'success' ? resultUrls : [] },
    failCode: task.failure?.failCode ?? null,
    failMsg: task.failure?.failMsg ?? null,
    creditsCharged: task.creditsCharged,
    creditsRefunded: task.creditsRefunded,
    costTime: costTimeMs(task),
    createTime: task.createdAt,
    updateTime: task.updatedAt,
    completeTime: task.completedAt ?? null,
  };
}

/** A live task never shows 100: that figure means the video can be fetched. */
function progressOf(state: TaskState, progress: number): number {
  if (state === 'success') return 100;
  if (state !== 'generating') return 0;
  return Math.min(99, Math.max(0, Math.floor(progress)));
}

function costTimeMs(task: Task): number | null {
  if (!isFinal(task.state) || task.generationStartedAt === undefined || task.completedAt === undefined) return null;
  return task.completedAt - task.generationStartedAt;
}
