import { bookkeeping, callbacksOf, charging, generationOf, storing } from '../workflows/steps.ts';

/** Of a generation that takes no time. */
const deadlineMs = 30 * 60_000;

/**
 * The bare shape of a task: the steps of workflows/video-task.ts, with the same limits, retries and turns, so that Temporal keeps the
 * same timers for them; none of them does anything.
 */
export async function bareTask({ taskId }: { taskId: string }): Promise<void> {
  const charged = await charging.chargeCredits({ taskId });
  const staged = await generationOf({ ...charged, deadlineMs }, 'first').generateVideo({ taskId, deadlineMs });
  const result = await storing.storeResult({ taskId, staged });
  await bookkeeping.completeTask({ taskId, result });
}

/** The same, and one attempt at a callback. */
export async function bareTaskWithCallback(task: { taskId: string }): Promise<void> {
  await bareTask(task);
  await callbacksOf('bare', 'fromTask').sendCallback({ ...task, isLast: false, nextPauseMs: 5_000 });
}
