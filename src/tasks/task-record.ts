import { isFinal, type Task, type TaskState } from './task.ts';

/** `data` of recordInfo and of callbacks. Times are Unix milliseconds. */
export type TaskRecord = Readonly<ReturnType<typeof taskRecord>>;

/** `progress` (0 to 100) comes from the generation of a live task; `resultUrls` are freshly signed links. */
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

/** 100 means that the video is ready, so a live task never shows it. */
function progressOf(state: TaskState, progress: number): number {
  if (state === 'success') return 100;
  if (state !== 'generating') return 0;
  return Math.min(99, Math.max(0, Math.floor(progress)));
}

function costTimeMs(task: Task): number | null {
  if (!isFinal(task.state) || task.generationStartedAt === undefined || task.completedAt === undefined) return null;
  return task.completedAt - task.generationStartedAt;
}
