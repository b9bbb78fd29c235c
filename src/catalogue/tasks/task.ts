import type { FailCode } from './fail-codes-and-outcomes.ts';
import type { TaskParam } from '../input/task-input.ts';

export { type FailCode, failCodes } from './fail-codes-and-outcomes.ts';
export type { TaskInput, TaskParam } from '../input/task-input.ts';

export const unfinishedStates = ['waiting', 'queuing', 'generating'] as const;
/** A task in one of these never changes. */
export const finalStates = ['success', 'fail'] as const;
export const taskStates = [...unfinishedStates, ...finalStates] as const;
export type TaskState = (typeof taskStates)[number];

/** The message is one sentence for the client. Upstream detail belongs in the log. */
export type TaskFailure = { readonly failCode: FailCode; readonly failMsg: string };

/** A stored video; measured from the file itself, never taken from the request. */
export type TaskResult = {
  /** Key of the video in the result store. */
  readonly videoKey: string;
  readonly posterKey: string;
  /** Only of models that store it. */
  readonly lastFrameKey?: string;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly durationSeconds: number;
  readonly framesPerSecond: number;
  readonly hasAudio: boolean;
  readonly bytes: number;
  readonly sha256: string;
};

export function fileKeysOfResult({ videoKey, posterKey, lastFrameKey }: TaskResult): readonly string[] {
  return lastFrameKey === undefined ? [videoKey, posterKey] : [videoKey, posterKey, lastFrameKey];
}

/** A task as its row holds it. Times are Unix milliseconds. */
export type Task = {
  readonly taskId: string;
  readonly accountId: string;
  readonly param: TaskParam;
  readonly state: TaskState;
  /** The price of its model that it was charged. */
  readonly priceName: string;
  readonly creditsCharged: number;
  readonly creditsRefunded: number;
  readonly failure: TaskFailure | undefined;
  readonly result: TaskResult | undefined;
  /** Set once the media was deleted, such as after its retention or with the task's content. The record stays. */
  readonly mediaDeletedAt: number | undefined;
  /** Set once the content of the task was deleted; its prompt and message then say so. */
  readonly contentDeletedAt?: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly generationStartedAt: number | undefined;
  readonly completedAt: number | undefined;
};

export function isFinalState(state: TaskState): state is (typeof finalStates)[number] {
  return finalStates.some((final) => final === state);
}
