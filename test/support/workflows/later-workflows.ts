import { patched, sleep } from '@temporalio/workflow';
import { type VideoTaskInput, videoTask as todays } from '../../../workflows/video-task.ts';

// The workflow code of a later release, written as docs/operations/upgrade.md describes: new steps are behind a patch.
export * from '../../../workflows/index.ts';

/** Today's task with a step more before it and one after it. */
export async function videoTask(input: VideoTaskInput): ReturnType<typeof todays> {
  if (patched('a-step-before')) await sleep(1);
  const end = await todays(input);
  if (patched('a-step-after')) await sleep(1);
  return end;
}
