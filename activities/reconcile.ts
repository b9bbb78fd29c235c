import { Context } from '@temporalio/activity';
import type { TaskFailure } from '../src/domain/task.ts';
import { listPendingDeliveries } from '../src/stores/deliveries.ts';
import { refundTask } from '../src/stores/end-task.ts';
import { auditNextPart } from '../src/stores/ledger-audit-round.ts';
import { listExpiredMedia, markMediaDeleted } from '../src/stores/media-retention.ts';
import { listUnfinishedTasks, type UnfinishedTask } from '../src/stores/tasks.ts';
import type { ActivityDeps, WorkflowStatus } from './deps.ts';

/** Rows read at a time; each activity goes through all pages, with a heartbeat after each row. */
const pageSize = 200;
/** A task this young is left to the process that accepted it. */
const startGraceMs = 10_000;
/** A callback this young is left to the workflow that owes it. */
const callbackGraceMs = 60_000;

/** What `reconcile` does every minute; each is idempotent and driven from the database (design, section 5). */
export function createReconcileActivities(deps: ActivityDeps) {
  return {
    settleTasks: () => settleTasks(deps),
    startOwedCallbacks: () => startOwedCallbacks(deps),
    deleteExpiredMedia: () => deleteExpiredMedia(deps),
    auditBooks: () => auditBooks(deps),
  };
}

/** Starts accepted tasks that have no workflow, and refunds those whose workflow is gone. */
async function settleTasks(deps: ActivityDeps): Promise<{ started: number; refunded: number }> {
  const settled = { started: 0, refunded: 0 };
  let after: string | undefined;
  do {
    const page = await listUnfinishedTasks(deps.db, { minAgeMs: startGraceMs, after, limit: pageSize });
    for (const task of page) {
      const outcome = await settleTask(deps, task);
      if (outcome !== 'left') {
        settled[outcome] += 1;
        deps.onSettled(outcome);
      }
      Context.current().heartbeat(settled);
    }
    after = page.at(-1)?.taskId;
  } while (after !== undefined);
  return settled;
}

async function settleTask(deps: ActivityDeps, task: UnfinishedTask): Promise<'started' | 'refunded' | 'left'> {
  const status = await deps.engine.taskStatus(task.taskId);
  if (status === 'running') return 'left';
  if (status === 'missing' && task.state === 'waiting') {
    await deps.engine.startTask(task);
    return 'started';
  }
  // Between the listing and this moment the workflow may have ended the task itself; then this changes nothing.
  const { hasCallback } = await refundTask(deps.db, task.taskId, failureAfter[status]);
  if (hasCallback) await deps.engine.startDelivery(task);
  deps.log.warn({ taskId: task.taskId, status }, 'task settled: its workflow is gone');
  return 'refunded';
}

const failureAfter: Record<Exclude<WorkflowStatus, 'running'>, TaskFailure> = {
  missing: { failCode: 'terminated', failMsg: 'The task was removed by an operator.' },
  completed: { failCode: 'internal', failMsg: 'The task ended without a result.' },
  failed: { failCode: 'internal', failMsg: 'The task ended without a result.' },
  cancelled: { failCode: 'cancelled', failMsg: 'The task was cancelled.' },
  terminated: { failCode: 'terminated', failMsg: 'The task was terminated by an operator.' },
  timed_out: { failCode: 'timeout', failMsg: 'The task was not finished in time.' },
};

/** Starts callbacks that no workflow is delivering: after a crash, a termination or a refund made here. */
async function startOwedCallbacks(deps: ActivityDeps): Promise<{ started: number }> {
  let started = 0;
  let after: string | undefined;
  do {
    const page = await listPendingDeliveries(deps.db, { minAgeMs: callbackGraceMs, after, limit: pageSize });
    for (const delivery of page) {
      await deps.engine.startDelivery(delivery);
      started += 1;
      Context.current().heartbeat({ started });
    }
    after = page.at(-1)?.taskId;
  } while (after !== undefined);
  return { started };
}

/** Deletes videos and posters past their retention; the record stays. */
async function deleteExpiredMedia(deps: ActivityDeps): Promise<{ deleted: number }> {
  let deleted = 0;
  for (;;) {
    const page = await listExpiredMedia(deps.db, { retentionMs: deps.retentionMs, limit: pageSize });
    if (page.length === 0) return { deleted };
    for (const { taskId, result } of page) {
      await Promise.all([deps.media.delete(result.videoKey), deps.media.delete(result.posterKey)]);
      await markMediaDeleted(deps.db, taskId);
      deleted += 1;
      Context.current().heartbeat({ deleted });
    }
  }
}

/** One round of the audit that never ends; violations that are not put right are logged as errors and answered by their count. */
async function auditBooks(deps: ActivityDeps): Promise<{ violations: number }> {
  const violations = await auditNextPart(deps.db, () => Context.current().heartbeat());
  for (const violation of violations) deps.log.error(violation, 'the books do not add up');
  return { violations: violations.length };
}
