import type { HousekeepingStep } from '../src/domain/maintenance.ts';
import { sweepSlots } from '../src/stores/slots.ts';
import { listExpiredMedia, markMediaDeleted } from '../src/stores/task-list.ts';
import { type ExpiredUpload, listExpiredUploads } from '../src/stores/uploads.ts';
import { deleteUpload, sweepDeletions } from './delete-content.ts';
import { recordDeletions } from './delete-records.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow, slowRowMs } from './for-each-row.ts';
import { deleteTaskFiles } from './task-files.ts';

/** Media of a failed task is deleted after this time, when no attempt of it can be alive. */
const leftoverMs = 60 * 60_000;
/** Of each kind, in one run. */
const maxSweptSlots = 1_000;

const steps: Record<HousekeepingStep, (deps: ActivityDeps) => Promise<void>> = {
  sweepSlots: ({ db }) => sweepSlots(db, maxSweptSlots),
  ...recordDeletions,
  deleteExpiredMedia,
  deleteExpiredUploads,
  sweepDeletions,
};

export function createHousekeep(deps: ActivityDeps) {
  return (step: HousekeepingStep): Promise<void> => steps[step](deps);
}

/** Deletes videos and posters past their retention, and files that failed tasks left. The record stays. */
async function deleteExpiredMedia(deps: ActivityDeps): Promise<void> {
  const { db, media, retentionMs } = deps;
  await forEachRow<{ readonly taskId: string }>(deps, {
    name: 'delete-expired-media',
    page: (page) => listExpiredMedia(db, { retentionMs, leftoverMs, ...page }),
    work: async ({ taskId }) => {
      await deleteTaskFiles(media, taskId);
      await markMediaDeleted(db, taskId);
      deps.events.emit({ kind: 'reconcile_finding', finding: 'media_expired' });
    },
    rowLimitMs: slowRowMs,
  });
}

async function deleteExpiredUploads(deps: ActivityDeps): Promise<void> {
  await forEachRow<ExpiredUpload>(deps, {
    name: 'delete-expired-uploads',
    page: (page) => listExpiredUploads(deps.db, page),
    work: async ({ uploadId }) => {
      await deleteUpload(deps, uploadId);
      deps.events.emit({ kind: 'reconcile_finding', finding: 'upload_expired' });
    },
    rowLimitMs: slowRowMs,
  });
}
