import type { VideoAndLastFrameLinks } from '../media/store/signed-link.ts';
import { isFinalState, type Task, type TaskResult, type TaskState } from '../catalogue/tasks/task.ts';

/** `data` of recordInfo and of callbacks. Times are Unix milliseconds. */
export type TaskRecord = Readonly<ReturnType<typeof taskRecord>>;

/** Freshly signed links to the files of a result. */
export const noLinks: VideoAndLastFrameLinks = { resultUrls: [] };

export type RecordedTask = Omit<Task, 'accountId' | 'priceName' | 'mediaDeletedAt' | 'contentDeletedAt'>;

/** `progress` (0 to 100) comes from the generation of a live task. */
export function taskRecord(task: RecordedTask, progress: number, links: VideoAndLastFrameLinks) {
  return {
    taskId: task.taskId,
    model: task.param.model,
    state: task.state,
    progress: progressOf(task.state, progress),
    param: task.param,
    resultJson: resultOf(task, links),
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

type NewTask = Pick<Task, 'taskId' | 'param' | 'creditsCharged'>;

/** The record of a task that was accepted at this time, in Unix milliseconds. */
export function newTaskRecord({ taskId, param, creditsCharged }: NewTask, acceptedAt: number): TaskRecord {
  const none = { failure: undefined, result: undefined, generationStartedAt: undefined, completedAt: undefined };
  const times = { createdAt: acceptedAt, updatedAt: acceptedAt };
  const task = { taskId, param, state: 'waiting', creditsCharged, creditsRefunded: 0, ...none, ...times } as const;
  return taskRecord(task, 0, noLinks);
}

function resultOf(
  { state, result }: RecordedTask,
  links: VideoAndLastFrameLinks,
): VideoAndLastFrameLinks & { readonly video?: ReturnType<typeof measuresOf> } {
  if (state !== 'success') return noLinks;
  return result === undefined ? links : { ...links, video: measuresOf(result) };
}

/** Measured from the stored video. Unlike the links, it stays when the video is deleted. */
function measuresOf(result: TaskResult) {
  const { widthPx: width, heightPx: height, durationSeconds, framesPerSecond, hasAudio, bytes } = result;
  const toThousandths = (value: number) => Math.round(value * 1000) / 1000;
  const [seconds, rate] = [toThousandths(durationSeconds), toThousandths(framesPerSecond)];
  return { width, height, seconds, framesPerSecond: rate, hasAudio, bytes };
}

/** 100 means that the video is ready, so a live task never shows it. */
function progressOf(state: TaskState, progress: number): number {
  if (state === 'success') return 100;
  if (state !== 'generating') return 0;
  return Math.min(99, Math.max(0, Math.floor(progress)));
}

function costTimeMs(task: RecordedTask): number | null {
  if (!isFinalState(task.state) || task.generationStartedAt === undefined || task.completedAt === undefined)
    return null;
  return task.completedAt - task.generationStartedAt;
}
