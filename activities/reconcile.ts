import { Context } from '@temporalio/activity';
import { listPendingDeliveries } from '../src/stores/deliveries.ts';
import { auditNextPart } from '../src/stores/ledger-audit.ts';
import { listExpiredMedia, markMediaDeleted } from '../src/stores/task-list.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow } from './for-each-row.ts';
import { mediaKeysOf } from './media-keys.ts';
import { settleProviderJobs } from './settle-provider-jobs.ts';
import { settleTasks } from './settle-tasks.ts';

/** A callback overdue by no more than this is left to the workflow that owes it. */
const callbackGraceMs = 60_000;
/** What a failed task left in the store is deleted after this: no attempt of it can be alive by then. */
const leftoverMs = 60 * 60_000;
/** Housekeeping gives way to the next round, so that tasks are settled every minute whatever there is to delete. */
const housekeepingBudgetMs = 45_000;

/** What `reconcile` does every minute; each is idempotent and driven from the database (design, section 5). */
export function createReconcileActivities(deps: ActivityDeps) {
  return {
    settleTasks: () => settleTasks(deps),
    settleProviderJobs: () => settleProviderJobs(deps),
    startOwedCallbacks: () => startOwedCallbacks(deps),
    deleteExpiredMedia: () => deleteExpiredMedia(deps),
    auditBooks: () => auditBooks(deps),
  };
}

/** Starts callbacks that no workflow is delivering: after a crash or a termination. */
async function startOwedCallbacks(deps: ActivityDeps): Promise<{ started: number }> {
  let started = 0;
  await forEachRow<{ taskId: string; accountId: string }>({
    page: (after, limit) => listPendingDeliveries(deps.db, { minAgeMs: callbackGraceMs, after: after?.taskId, limit }),
    work: async (delivery) => {
      await deps.engine.startDelivery(delivery);
      started += 1;
    },
    onError: (error, { taskId }) => deps.log.warn({ err: error, taskId }, 'callback not started in this round'),
  });
  return { started };
}

/** Deletes videos and posters past their retention, and what failed tasks left behind; the record stays. */
async function deleteExpiredMedia(deps: ActivityDeps): Promise<{ deleted: number }> {
  let deleted = 0;
  const { retentionMs } = deps;
  await forEachRow<string>({
    // What was deleted is no longer listed, so each page is the first; one that could not be is met again in the next round.
    page: (_after, limit) => listExpiredMedia(deps.db, { retentionMs, leftoverMs, limit }),
    work: async (taskId) => {
      await Promise.all(Object.values(mediaKeysOf(taskId)).map((key: string) => deps.media.delete(key)));
      await markMediaDeleted(deps.db, taskId);
      deleted += 1;
    },
    onError: (error, taskId) => deps.log.warn({ err: error, taskId }, 'media not deleted in this round'),
    budgetMs: housekeepingBudgetMs,
  });
  return { deleted };
}

/** One round of the audit that never ends; violations that are not put right are logged as errors and answered by their count. */
async function auditBooks(deps: ActivityDeps): Promise<{ violations: number }> {
  const violations = await auditNextPart(deps.db, () => Context.current().heartbeat());
  for (const violation of violations) deps.log.error(violation, 'the books do not add up');
  return { violations: violations.length };
}
