import type { TaskParam } from './task-input.ts';

export type { TaskInput, TaskParam } from './task-input.ts';

/** The life of a task; the last two are final and never change. */
export const taskStates = ['waiting', 'queuing', 'generating', 'success', 'fail'] as const;
export type TaskState = (typeof taskStates)[number];

/** Why a task ended in `fail`; stable, part of the API. */
export const failCodes = [
  'content_rejected',
  'image_unreachable',
  'image_invalid',
  'provider_rejected',
  'provider_unavailable',
  'timeout',
  'result_invalid',
  'cancelled',
  'terminated',
  'internal',
] as const;
export type FailCode = (typeof failCodes)[number];

/** Why a task failed: the code, and one sentence a client may read. Upstream detail belongs in the log, not here. */
export type TaskFailure = { readonly failCode: FailCode; readonly failMsg: string };

/** What is known of a stored video; measured from the file itself, never taken from the request. */
export type TaskResult = {
  /** Key of the video in the result store, for example `results/<taskId>/video.mp4`. */
  readonly videoKey: string;
  readonly posterKey: string;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly durationSeconds: number;
  readonly framesPerSecond: number;
  readonly hasAudio: boolean;
  readonly bytes: number;
  readonly sha256: string;
};

/** A task as its row holds it. Times are Unix milliseconds. */
export type Task = {
  readonly taskId: string;
  readonly accountId: string;
  readonly param: TaskParam;
  readonly state: TaskState;
  readonly creditsCharged: number;
  readonly creditsRefunded: number;
  readonly failure: TaskFailure | undefined;
  readonly result: TaskResult | undefined;
  /** Set once the media has passed its retention and was deleted; the record stays. */
  readonly mediaDeletedAt: number | undefined;
  /** Set once the content of the task was deleted; its prompt and message then say so. */
  readonly contentDeletedAt?: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly generationStartedAt: number | undefined;
  readonly completedAt: number | undefined;
};

/** True once nothing about the task can change any more. */
export function isFinal(state: TaskState): state is 'success' | 'fail' {
  return state === 'success' || state === 'fail';
}
