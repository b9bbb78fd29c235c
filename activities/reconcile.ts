import { Context } from '@temporalio/activity';
import { listPendingDeliveries, type OverdueDelivery } from '../src/stores/deliveries.ts';
import { auditNextPart } from '../src/stores/ledger-audit.ts';
import { uploadKey } from '../src/domain/upload.ts';
import { listExpiredUploads, removeUpload } from '../src/stores/uploads.ts';
import { listExpiredMedia, markMediaDeleted } from '../src/stores/task-list.ts';
import { deleteContent } from './delete-content.ts';
import { expiredRecordDeletions } from './delete-records.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow, inTurns, notSettled, slowRowMs } from './for-each-row.ts';
import { imageFolderOf, incomingFolderOf, mediaKeysOf } from './task-files.ts';
import { sweepPlaces } from '../src/stores/places.ts';
import { settleProviderJobs } from './settle-provider-jobs.ts';
import { settleTasks } from './settle-tasks.ts';

/** A callback overdue by no more than this is left to the workflow that owes it. */
const callbackGraceMs = 60_000;
/** Media of a failed task is deleted after this time, when no attempt of it can be alive. */
const leftoverMs = 60 * 60_000;
/**
 * All housekeeping of a run, so that tasks are settled every minute, however much there is to delete. With the rows that have begun by
 * then it stays within the time of its activity (workflows/reconcile.ts).
 */
const housekeepingMs = 75_000;

/** What `reconcile` does every minute; each is idempotent and driven from the database. */
export function createReconcileActivities(deps: ActivityDeps) {
  return {
    settleTasks: () => settleTasks(deps),
    settleProviderJobs: () => settleProviderJobs(deps),
    startOwedCallbacks: () => startOwedCallbacks(deps),
    deleteExpiredMedia: () => deleteExpiredMedia(deps),
    auditBooks: () => auditBooks(deps),
  };
}

/** Starts callbacks that no workflow is delivering, after a crash or a termination, and those whose redelivery was not signalled. */
async function startOwedCallbacks(deps: ActivityDeps): Promise<{ started: number }> {
  let started = 0;
  await forEachRow<OverdueDelivery>({
    page: (after, limit) => listPendingDeliveries(deps.db, { minAgeMs: callbackGraceMs, after, limit }),
    work: async ({ taskId, accountId }) => {
      await deps.engine.wakeDelivery({ taskId, accountId });
      started += 1;
      deps.events.emit({ kind: 'reconcile_finding', finding: 'callback_owed' });
    },
    onError: (err, { taskId }) => notSettled(deps, { err, taskId }, 'callback not started in this run'),
  });
  return { started };
}

/** Of each kind, in one run. */
const maxSwept = 1_000;

/**
 * Deletes what was asked to be deleted, videos, posters, uploaded images and personal records past their retention, and what tasks left
 * behind: files of failed ones, places that none waits for any more. The record of a task stays. What may take longest comes last, and has all the time that
 * the others leave.
 */
async function deleteExpiredMedia(deps: ActivityDeps): Promise<{ deleted: number }> {
  let deleted = 0;
  await inTurns(housekeepingMs, [
    () => sweepPlaces(deps.db, maxSwept),
    ...expiredRecordDeletions(deps),
    (budgetMs) => deleteOldMedia(deps, budgetMs, () => (deleted += 1)),
    (budgetMs) => deleteOldUploads(deps, budgetMs),
    (budgetMs) => deleteContent(deps, budgetMs),
  ]);
  return { deleted };
}

async function deleteOldMedia(deps: ActivityDeps, budgetMs: number, onDeleted: () => void): Promise<void> {
  const { db, media, retentionMs } = deps;
  await forEachRow<string>({
    // A deleted task is no longer listed, so each page is the first; one that failed is listed again in the next run.
    page: (_after, limit) => listExpiredMedia(db, { retentionMs, leftoverMs, limit }),
    work: async (taskId) => {
      await media.deleteFolder(imageFolderOf(taskId));
      await media.deleteFolder(incomingFolderOf(taskId));
      await Promise.all(Object.values(mediaKeysOf(taskId)).map((key: string) => media.delete(key)));
      await markMediaDeleted(db, taskId);
      onDeleted();
      deps.events.emit({ kind: 'reconcile_finding', finding: 'media_expired' });
    },
    onError: (err, taskId) => notSettled(deps, { err, taskId }, 'media not deleted in this run'),
    budgetMs,
    rowLimitMs: slowRowMs,
  });
}

async function deleteOldUploads(deps: ActivityDeps, budgetMs: number): Promise<void> {
  await forEachRow<string>({
    page: async (_after, limit) => (await listExpiredUploads(deps.db, limit)).map(({ uploadId }) => uploadId),
    work: async (uploadId) => {
      await deps.media.delete(uploadKey(uploadId));
      await removeUpload(deps.db, uploadId);
      deps.events.emit({ kind: 'reconcile_finding', finding: 'upload_expired' });
    },
    onError: (err, uploadId) => notSettled(deps, { err, uploadId }, 'upload not deleted in this run'),
    budgetMs,
    rowLimitMs: slowRowMs,
  });
}

/** One part of the continuous audit; violations that are not corrected are logged as errors and counted. */
async function auditBooks(deps: ActivityDeps): Promise<{ violations: number }> {
  const violations = await auditNextPart(deps.db, () => Context.current().heartbeat());
  for (const violation of violations) {
    deps.log.error(violation, 'ledger violation found');
    deps.events.emit({ kind: 'reconcile_finding', finding: 'ledger_violation' });
  }
  return { violations: violations.length };
}
