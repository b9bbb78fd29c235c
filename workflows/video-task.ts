import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  isCancellation,
  setCurrentDetails,
  setHandler,
  TimeoutFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ChargedTask, TaskOrder } from '../activities/charge-credits.ts';
import type { TaskEnd } from '../activities/end-task.ts';
import type { StagedVideo } from '../activities/store-result.ts';
import { type FailCode, failCodes, type TaskFailure, type TaskState } from '../src/domain/task.ts';
import { notifyClient } from './deliver-callback.ts';
import {
  bookkeeping,
  type Bookkeeping,
  generationOf,
  promptBookkeeping,
  remoteGenerationOf,
  storing,
} from './steps.ts';

export type VideoTaskInput = {
  readonly taskId: string;
  /** Only for a task that an operator starts from the Temporal UI or CLI: what createTask would have stored. */
  readonly order?: TaskOrder;
};

/**
 * `queuing` until the task has ended, as the search attribute: only the database records when an upstream job has started, because a
 * signal about it would add four events to each history. For operators; clients ask recordInfo, which needs no worker.
 */
export const statusQuery = defineQuery<TaskState>('status');

const taskState = defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD);

/**
 * One paid task: charge, generate, store, complete; on any failure, timeout or cancellation refund in full; then notify.
 * Money and the callback run where a cancellation cannot reach them.
 */
export async function videoTask({ taskId, order }: VideoTaskInput): Promise<TaskEnd> {
  const show = showState();
  const charged = await CancellationScope.nonCancellable(() => promptBookkeeping.chargeCredits({ taskId, order }));
  const end = charged.isFinal ? await finalState(taskId, charged) : await runToEnd(taskId, charged, show);
  show(end.state, true);
  if (end.hasCallback) await CancellationScope.nonCancellable(() => notifyClient({ taskId, ...charged }));
  return end;
}

async function runToEnd(taskId: string, charged: ChargedTask, show: Show): Promise<TaskEnd> {
  const { completeTask, refundCredits } = bookkeepingOf(charged);
  try {
    // Only histories of earlier releases have this event.
    if (charged.steps === undefined) show('generating', true);
    const staged = await generate(taskId, charged);
    const result = staged.result ?? (await storing.storeResult({ taskId, staged }));
    return await CancellationScope.nonCancellable(() => completeTask({ taskId, result }));
  } catch (error) {
    const failure = failureOf(error);
    return CancellationScope.nonCancellable(() => refundCredits({ taskId, failure }));
  }
}

function bookkeepingOf({ steps }: ChargedTask): Bookkeeping {
  return steps === undefined ? bookkeeping : promptBookkeeping;
}

/** Generates the video. An attempt that broke off, with its worker or its provider, is repeated before tasks that only wait. */
async function generate(taskId: string, charged: ChargedTask): Promise<StagedVideo> {
  const order = { taskId, deadlineMs: charged.deadlineMs };
  if (charged.isRemote === true) return remoteGenerationOf(charged).generateVideo({ ...order, isRemote: true });
  try {
    return await generationOf(charged, 'first').generateVideo(order);
  } catch (error) {
    throwUnlessBrokenOff(error);
  }
  try {
    return await generationOf(charged, 'ahead').generateVideo(order);
  } catch (error) {
    throwUnlessBrokenOff(error);
  }
  return generationOf(charged, 'again').generateVideo(order);
}

/** Throws what ends the generation: a refusal, a cancellation, or a day in the queue. */
function throwUnlessBrokenOff(error: unknown): void {
  if (!(error instanceof ActivityFailure) || error.retryState !== 'MAXIMUM_ATTEMPTS_REACHED') throw error;
}

/** What the client reads about a failure: the message of an activity that gave a failCode, else a general sentence. */
function failureOf(error: unknown): TaskFailure {
  // A worker that dies with a cancelled task answers nothing, and Temporal reports a timeout.
  if (isCancellation(error) || CancellationScope.current().consideredCancelled)
    return { failCode: 'cancelled', failMsg: 'The task was cancelled.' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return { failCode: 'timeout', failMsg: 'The task was not finished in time.' };
  if (cause instanceof ApplicationFailure && isFailCode(cause.type)) {
    return { failCode: cause.type, failMsg: cause.message };
  }
  return { failCode: 'internal', failMsg: 'The task failed because of a fault of the service.' };
}

function isFailCode(type: string | null | undefined): type is FailCode {
  return failCodes.some((code) => code === type);
}

/** An operator's reset replays a task that has ended. Refunding a final task changes nothing, so this reads its state back. */
function finalState(taskId: string, charged: ChargedTask): Promise<TaskEnd> {
  const failure = failureOf(undefined);
  return CancellationScope.nonCancellable(() => bookkeepingOf(charged).refundCredits({ taskId, failure }));
}

/** `isIndexed` is whether the search attribute has the state, too, which costs an event and a write in the visibility store. */
type Show = (state: TaskState, isIndexed: boolean) => void;

/** Keeps the status query, the details page of the Temporal UI and, at the end, the search attribute in step. */
function showState(): Show {
  let shown: TaskState = 'queuing';
  setHandler(statusQuery, () => shown);
  return (state, isIndexed) => {
    shown = state;
    setCurrentDetails(`The task is in state **${state}**.`);
    if (isIndexed) upsertSearchAttributes([{ key: taskState, value: state }]);
  };
}
