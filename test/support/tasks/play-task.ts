import { ApplicationFailure } from '@temporalio/common';
import type { MainActivities } from '../../../activities/index.ts';
import { wireActivities, type WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { failCodes, type FailCode, type TaskFailure } from '../../../src/catalogue/tasks/task.ts';
import { Killed } from '../processes/dying-worker-parts.ts';
import { silentActivity } from '../workflows/silent-activity.ts';

/** The processes that take up a task one after the other: an attempt that dies or fails is repeated by the next one. */
export type Lives = { next(): WorkerParts };

/**
 * Plays the part of the engine for one task, without its timeouts: the steps of workflows/video-task.ts in their order, each
 * repeated in a new process until it has an answer or a failure that is not retried.
 */
export async function playTask(lives: Lives, task: PlayedTask): Promise<'success' | 'fail'> {
  const main = <T>(step: (activities: MainActivities) => Promise<T>) =>
    untilAnswered(lives, task, (parts) => step(wireActivities(parts).main));
  const { taskId } = task;
  const charged = await main((activities) => activities.chargeCredits({ taskId }));
  if (charged.isFinal) throw new Error('the task had ended before it began');
  try {
    const { form, result: stored } = await untilAnswered(lives, task, (parts) =>
      wireActivities(parts).generation.generateVideo({ taskId, isRemote: charged.isRemote }),
    );
    const result = stored ?? (await main((activities) => activities.storeResult({ taskId, form })));
    const end = await main((activities) => activities.completeTask({ taskId, result }));
    return end.state === 'success' ? 'success' : 'fail';
  } catch (error) {
    const failure = failureOf(error);
    await main((activities) => activities.refundCredits({ taskId, failure }));
    return 'fail';
  }
}

export type PlayedTask = {
  readonly taskId: string;
  /** Attempts at one step: a task that needs more is stuck. */
  readonly attempts?: number | undefined;
  /** Time that passes before a step is repeated. */
  readonly betweenAttempts: () => Promise<void>;
};

async function untilAnswered<T>(
  lives: Lives,
  { taskId, betweenAttempts, attempts = 8 }: PlayedTask,
  step: (parts: WorkerParts) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const parts = lives.next();
    try {
      return await silentActivity({ workflowId: taskId, attempt }, () => step(parts));
    } catch (error) {
      if (!isRepeated(error)) throw error;
      await betweenAttempts();
    }
  }
  throw new Error(`no answer after ${attempts} attempts`);
}

function isRepeated(error: unknown): boolean {
  return error instanceof Killed || !(error instanceof ApplicationFailure && error.nonRetryable === true);
}

function failureOf(error: unknown): TaskFailure {
  if (error instanceof ApplicationFailure && isFailCode(error.type)) {
    return { failCode: error.type, failMsg: error.message };
  }
  throw error;
}

function isFailCode(type: string | null | undefined): type is FailCode {
  return failCodes.some((code) => code === type);
}
