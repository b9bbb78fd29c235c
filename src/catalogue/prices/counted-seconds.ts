import type { TaskResult } from '../tasks/task.ts';

/** Encoders end a video with a whole frame or group of frames: up to half a second from the ordered length is as ordered. */
export const secondsTolerance = 0.5;

/** The whole seconds that a video of this measured length counts as: those of its order if it is within the tolerance. */
export function countedSeconds({ durationSeconds }: Pick<TaskResult, 'durationSeconds'>): number {
  return Math.floor(durationSeconds + secondsTolerance);
}
