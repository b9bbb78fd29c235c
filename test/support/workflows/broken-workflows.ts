import type { videoTask as todays } from '../../../workflows/video-task.ts';

// The workflow code of a release that should not have been made.
export * from '../../../workflows/index.ts';

/** An error that is no failure of the task fails the workflow task, again and again. */
export function videoTask(): ReturnType<typeof todays> {
  throw new TypeError('this release cannot run a task');
}
