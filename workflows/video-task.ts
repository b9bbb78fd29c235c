import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import {
  CancellationScope,
  defineQuery,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ChargedTask, TaskOrder } from '../activities/charge-credits.ts';
import type { TaskEnd } from '../activities/complete-task.ts';
import type { TaskState } from '../src/domain/task.ts';
import { failureOf } from './failure-of.ts';
import { generate } from './generate.ts';
import { bookkeeping, charging, storing } from './steps.ts';
import { tellOfEnd } from './tell-of-end.ts';

export type VideoTaskInput = {
  readonly taskId: string;
  /** Only for a task that an operator starts from the Temporal UI or CLI: what createTask would have stored. */
  readonly order?: TaskOrder;
};

/** For operators; clients ask recordInfo, which needs no worker. */
export const statusQuery = defineQuery<TaskState>('status');

const taskState = defineSearchAttributeKey('TaskState', SearchAttributeType.KEYWORD);

/**
 * One paid task: charge, generate, store, complete; on any failure, timeout or cancellation refund in full; then notify.
 * Money and the callback run where a cancellation cannot reach them.
 */
export async function videoTask({ taskId, order }: VideoTaskInput): Promise<TaskEnd> {
  const show = showState();
  const charged = await CancellationScope.nonCancellable(() => charging.chargeCredits({ taskId, order }));
  const end = charged.isFinal ? await settled(taskId) : await runToEnd(taskId, charged, show);
  show(end.state);
  if (end.hasCallback) await CancellationScope.nonCancellable(() => tellOfEnd({ taskId, ...charged }));
  return end;
}

async function runToEnd(taskId: string, charged: ChargedTask, show: (state: TaskState) => void): Promise<TaskEnd> {
  try {
    show('generating');
    const staged = await generate(taskId, charged);
    const result = await storing.storeResult({ taskId, staged });
    return await CancellationScope.nonCancellable(() => bookkeeping.completeTask({ taskId, result }));
  } catch (error) {
    const failure = failureOf(error);
    return CancellationScope.nonCancellable(() => bookkeeping.refundCredits({ taskId, failure }));
  }
}

/** An operator's reset replays a task that has ended: its final state is read back, for refunding a final task changes nothing. */
function settled(taskId: string): Promise<TaskEnd> {
  const failure = failureOf(undefined);
  return CancellationScope.nonCancellable(() => bookkeeping.refundCredits({ taskId, failure }));
}

/** Keeps the status query, the search attribute and the details page of the Temporal UI in step. */
function showState(): (state: TaskState) => void {
  let shown: TaskState = 'queuing';
  setHandler(statusQuery, () => shown);
  return (state) => {
    shown = state;
    setCurrentDetails(`The task is in state **${state}**.`);
    upsertSearchAttributes([{ key: taskState, value: state }]);
  };
}
