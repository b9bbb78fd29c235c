import type { Logger } from 'pino';
import { compareWithOrder, describeDifferences, type OrderDifference } from '../src/media/video/compare-with-order.ts';
import type { ResultStore } from '../src/media/store/result-store.ts';
import type { TaskEventSink } from '../src/tasks/task-metric-events.ts';
import type { Database } from '../src/platform/database/database.ts';
import { countedSeconds } from '../src/catalogue/prices/counted-seconds.ts';
import {
  isFinalState,
  fileKeysOfResult,
  type TaskFailure,
  type TaskResult,
  type TaskState,
} from '../src/catalogue/tasks/task.ts';
import { completeTask, type EndedTask, failAndRefund } from '../src/tasks/end/end-task-statements.ts';
import { TaskError } from '../src/catalogue/tasks/task-error.ts';
import { recordLateSuccess } from '../src/tasks/jobs/job-ends.ts';
import { listProviderJobs } from '../src/tasks/jobs/provider-jobs.ts';
import {
  findTaskWithShortfallTerms,
  type TaskWithShortfallTerms,
  type ShortfallDecision,
  decideShortfall,
} from '../src/tasks/end/shortfall-terms-and-decision.ts';
import { withTaskErrorsConverted } from './convert-errors-and-save-retry-time.ts';
import { resultKeysOf } from './task-file-keys-and-deletion.ts';

export type CompleteTaskDeps = RefundCreditsDeps & { readonly media: Pick<ResultStore, 'delete'> };

export type RefundCreditsDeps = { readonly db: Database; readonly log: Logger; readonly events: TaskEventSink };

/** The final state of a task, also when another process has ended it. */
export type TaskEndSummary = {
  readonly state: TaskState;
  readonly failCode: string | undefined;
  readonly hasCallback: boolean;
  /** Absent in histories of tasks whose account has no event endpoint. */
  readonly hasEvent?: true;
};

/**
 * Compares the video with its order, and ends the task: in success, also with a partial refund, or in failure with a full one if the video
 * falls short. A task that was refunded before stays failed. The media of a failed task is deleted.
 */
export function createCheckAndEndTaskActivity(deps: CompleteTaskDeps) {
  const { db, media } = deps;
  return ({ taskId, result }: { taskId: string; result: TaskResult }): Promise<TaskEndSummary> =>
    withTaskErrorsConverted(async () => {
      requireOwn(taskId, result);
      const task = await findTaskWithShortfallTerms(db, taskId);
      const wasFinal = task === undefined || isFinalState(task.state);
      const end = wasFinal
        ? await endCounted(deps, () => completeTask(db, taskId, result))
        : await endByOrder(deps, task, result);
      if (end.state !== 'fail') return end;
      if (end.failCode !== 'result_invalid') await recordLate(deps, taskId, end);
      await Promise.all(fileKeysOfResult(result).map((key) => media.delete(key)));
      return end;
    });
}

type Settlement = { readonly kind: 'delivered' } | ShortfallDecision;

async function endByOrder(
  deps: RefundCreditsDeps,
  task: TaskWithShortfallTerms,
  result: TaskResult,
): Promise<TaskEndSummary> {
  const { db } = deps;
  const { taskId } = task;
  const differences = compareWithOrder(task.param.input, result);
  const short = differences.filter(({ kind }) => kind === 'short');
  const settlement: Settlement =
    short.length === 0
      ? { kind: 'delivered' }
      : await decideShortfall(db, task, { short, seconds: countedSeconds(result) });
  const failMsg = `The generated video is not as ordered: ${describeDifferences(short)}.`;
  return await endCounted(
    deps,
    () =>
      settlement.kind === 'failed'
        ? failAndRefund(db, taskId, { failCode: 'result_invalid', failMsg })
        : completeTask(db, taskId, result, settlement.kind === 'refunded' ? settlement : undefined),
    () => reportDifferences(deps, task, differences, settlement),
  );
}

/** Reports each difference to operators, with the costs upstream: no customer pays for more than was ordered. */
async function reportDifferences(
  { db, log, events }: RefundCreditsDeps,
  { taskId, param: { model } }: TaskWithShortfallTerms,
  differences: readonly OrderDifference[],
  settlement: Settlement,
): Promise<void> {
  if (differences.length === 0) return;
  for (const { aspect, kind } of differences) {
    const outcome = kind === 'more' ? 'exceeded' : settlement.kind;
    if (outcome !== 'delivered') events.emit({ kind: 'order_difference', model, aspect, outcome });
  }
  const jobs = await listProviderJobs(db, taskId);
  const costs = jobs.flatMap(({ costMicros, costCurrency }) =>
    costMicros === undefined ? [] : [{ costMicros, costCurrency }],
  );
  const creditsRefunded = settlement.kind === 'refunded' ? settlement.credits : undefined;
  log.warn({ taskId, model, outcome: settlement.kind, differences, creditsRefunded, costs }, 'video not as ordered');
}

async function recordLate({ db, log, events }: RefundCreditsDeps, taskId: string, end: TaskEndSummary): Promise<void> {
  log.warn({ taskId, failCode: end.failCode }, 'video finished after the refund; not delivered');
  const job = await recordLateSuccess(db, taskId);
  if (job !== undefined) events.emit({ kind: 'job_ended', job });
}

/** Ends the task in failure and refunds every credit, in one statement. A final task does not change. */
export function createFailAndRefundActivity(deps: RefundCreditsDeps) {
  return async ({ taskId, failure }: { taskId: string; failure: TaskFailure }): Promise<TaskEndSummary> => {
    const end = await endCounted(deps, () => failAndRefund(deps.db, taskId, failure));
    deps.log.info({ taskId, state: end.state, failCode: end.failCode }, 'task ended');
    return end;
  };
}

/** Counts and reports a task only where this statement ended it. */
async function endCounted(
  { events }: Pick<RefundCreditsDeps, 'events'>,
  endTask: () => Promise<EndedTask>,
  report = () => Promise.resolve(),
): Promise<TaskEndSummary> {
  const startedAt = performance.now();
  const { task, changed, hasCallback, hasEvent } = await endTask();
  if (changed) {
    events.emit({ kind: 'stage_ended', stage: 'end', durationMs: performance.now() - startedAt });
    events.emit({ kind: 'task_ended', task });
    // A report that fails must not repeat a step whose result is committed.
    await report().catch(() => undefined);
  }
  return { state: task.state, failCode: task.failure?.failCode, hasCallback, ...(hasEvent && { hasEvent }) };
}

/** A result that an operator wrote into the history must not show, or delete, another task's video. */
function requireOwn(taskId: string, result: TaskResult | null | undefined): void {
  const { video, poster, lastFrame } = resultKeysOf(taskId, String(result?.sha256));
  const isOwnFrame = result?.lastFrameKey === undefined || result.lastFrameKey === lastFrame;
  if (result?.videoKey === video && result.posterKey === poster && isOwnFrame) return;
  const cause = new Error(`not the keys of task ${taskId}: ${JSON.stringify(result)}`);
  throw new TaskError('result_invalid', 'The stored video is not that of this task.', { cause });
}
