import { ActivityFailure, patched } from '@temporalio/workflow';
import type { CallbackAttempt } from '../activities/send-callback.ts';
import { callbackPausesMs } from '../src/domain/callback.ts';
import { startCallback } from './start-callback.ts';
import { callbacksOf } from './steps.ts';

/**
 * Tells the client's receiver how its task ended. The first attempt is made by the task's own workflow, and most callbacks need no
 * other. What is left of the schedule becomes a workflow of its own, for the task does not wait for it.
 */
export async function tellOfEnd({ taskId, accountId }: { taskId: string; accountId: string }): Promise<void> {
  // Not in the histories of tasks that were running when it was introduced.
  const firstAttempt = patched('first-callback-from-task') ? await attemptFromTask(taskId, accountId) : undefined;
  if (firstAttempt === undefined || firstAttempt.kind === 'failed') {
    await startCallback({ taskId, accountId, firstAttempt });
  }
}

/** Undefined when nothing can be said about it: there was no free slot, no worker in time, or one that died over it. */
async function attemptFromTask(taskId: string, accountId: string): Promise<CallbackAttempt | undefined> {
  const { sendCallback } = callbacksOf(accountId, 'fromTask');
  try {
    return await sendCallback({ taskId, isLast: false, nextPauseMs: callbackPausesMs[1] });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}
