import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ChargedTaskForWorkflow, OperatorOrderForAccount } from '../activities/confirm-or-charge.ts';
import type { TaskEndSummary } from '../activities/end-task.ts';
import type { ConversionOrStoredResult } from '../activities/convert-and-store-video.ts';
import { type FailCode, failCodes, type TaskFailure } from '../src/catalogue/tasks/task.ts';
import { notifyOfTaskEnd } from './deliver-callback.ts';
import { bookkeeping, ownMachineGenerationOf, remoteGenerationOf, storing } from './activity-proxies.ts';

export type VideoTaskInput = {
  readonly taskId: string;
  /** Only for a task that an operator starts from the Temporal UI or CLI. */
  readonly order?: OperatorOrderForAccount;
};

/**
 * Is `queuing` until the task has ended, because each change costs an event and a write in the visibility store. Only the database records
 * when an upstream job has started: a signal about it would add four events to each history.
 */
const taskState = defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD);

/**
 * One paid task: confirm the charge, generate, store, complete; on any failure or timeout refund in full; then notify. A cancellation by a client or
 * operator has ended and refunded the task before it reaches this workflow; one in Temporal's UI refunds here. Money and the callback run
 * where a cancellation cannot reach them.
 */
export async function videoTask({ taskId, order }: VideoTaskInput): Promise<TaskEndSummary> {
  const charged = await CancellationScope.nonCancellable(() => bookkeeping.chargeCredits({ taskId, order }));
  const end = charged.isFinal ? await readFinalState(taskId) : await runToEnd(taskId, charged);
  upsertSearchAttributes([{ key: taskState, value: end.state }]);
  const { accountId } = charged;
  await CancellationScope.nonCancellable(() => notifyOfTaskEnd({ taskId, accountId, ...end }));
  return end;
}

async function runToEnd(taskId: string, charged: ChargedTaskForWorkflow): Promise<TaskEndSummary> {
  try {
    const { form, result: stored } = await generate(taskId, charged);
    const result = stored ?? (await storing.storeResult({ taskId, form }));
    return await CancellationScope.nonCancellable(() => bookkeeping.completeTask({ taskId, result }));
  } catch (error) {
    const failure = failureOf(error);
    return CancellationScope.nonCancellable(() => bookkeeping.refundCredits({ taskId, failure }));
  }
}

/** An attempt that a crash of its worker or provider interrupted is retried ahead of tasks that still wait. */
async function generate(taskId: string, charged: ChargedTaskForWorkflow): Promise<ConversionOrStoredResult> {
  if (charged.isRemote) return remoteGenerationOf(charged).generateVideo({ taskId, isRemote: true });
  for (const attempt of ['first', 'prioritized'] as const) {
    try {
      return await ownMachineGenerationOf(charged, attempt).generateVideo({ taskId });
    } catch (error) {
      if (!isInterrupted(error)) throw error;
    }
  }
  return ownMachineGenerationOf(charged, 'queued').generateVideo({ taskId });
}

/** False for the ends of a generation: a refusal, a cancellation, or a day in the queue. */
function isInterrupted(error: unknown): boolean {
  return error instanceof ActivityFailure && error.retryState === 'MAXIMUM_ATTEMPTS_REACHED';
}

/** Returns the failure that the client reads: that of an activity with a failCode, else a general one. */
function failureOf(error: unknown): TaskFailure {
  // If a worker dies with a cancelled task, Temporal reports a timeout.
  if (isCancellation(error) || CancellationScope.current().consideredCancelled)
    return { failCode: 'cancelled', failMsg: 'The task was cancelled.' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return { failCode: 'timeout', failMsg: 'The task was not finished in time.' };
  if (cause instanceof ApplicationFailure && isFailCode(cause.type)) {
    return { failCode: cause.type, failMsg: cause.message };
  }
  return { failCode: 'internal', failMsg: 'The task failed because of an error of the service.' };
}

function isFailCode(type: string | null | undefined): type is FailCode {
  return failCodes.some((code) => code === type);
}

/** An operator's reset replays a task that has ended. Refunding a final task changes nothing, so this reads its state back. */
function readFinalState(taskId: string): Promise<TaskEndSummary> {
  const failure = failureOf(undefined);
  return CancellationScope.nonCancellable(() => bookkeeping.refundCredits({ taskId, failure }));
}
