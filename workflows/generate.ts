import { ActivityFailure } from '@temporalio/workflow';
import type { ChargedTask } from '../activities/charge-credits.ts';
import type { StagedVideo } from '../activities/generate-video.ts';
import { generationOf } from './steps.ts';

/** Generates the video; an attempt that broke off, with its worker or its provider, is repeated ahead of what only waits. */
export async function generate(taskId: string, charged: ChargedTask): Promise<StagedVideo> {
  const order = { taskId, deadlineMs: charged.deadlineMs };
  try {
    return await generationOf(charged, 'first').generateVideo(order);
  } catch (error) {
    requireBrokenOff(error);
  }
  try {
    return await generationOf(charged, 'ahead').generateVideo(order);
  } catch (error) {
    requireBrokenOff(error);
  }
  return generationOf(charged, 'again').generateVideo(order);
}

/** Throws what is the end of the generation: a refusal, a cancellation, or a day in the queue. */
function requireBrokenOff(error: unknown): void {
  if (!(error instanceof ActivityFailure) || error.retryState !== 'MAXIMUM_ATTEMPTS_REACHED') throw error;
}
