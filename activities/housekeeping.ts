import type { HousekeepingStep } from '../src/domain/maintenance.ts';
import { uploadKey } from '../src/domain/upload.ts';
import { sweepPlaces } from '../src/stores/places.ts';
import { listExpiredMedia, markMediaDeleted } from '../src/stores/task-list.ts';
import { listExpiredUploads, removeUpload } from '../src/stores/uploads.ts';
import { sweepDeletions } from './delete-content.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow, notSettled, slowRowMs } from './for-each-row.ts';
import { deleteTaskFiles } from './task-files.ts';

/** Media of a failed task is deleted after this time, when no attempt of it can be alive. */
const leftoverMs = 60 * 60_000;
/** Of each kind, in one run. */
const maxSweptPlaces = 1_000;

const steps: Record<HousekeepingStep, (deps: ActivityDeps) => Promise<void>> = {
  sweepPlaces: ({ db }) => sweepPlaces(db, maxSweptPlaces),
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
    page: (after, limit) => listExpiredMedia(db, { retentionMs, leftoverMs, after, limit }),
    work: async ({ taskId }) => {
      await deleteTaskFiles(media, taskId);
      await markMediaDeleted(db, taskId);
      deps.onFinding('media_expired');
    },
    onError: (err, { taskId }) => notSettled(deps, { err, taskId }, 'media not deleted in this run'),
    rowLimitMs: slowRowMs,
  });
}

async function deleteExpiredUploads(deps: ActivityDeps): Promise<void> {
  await forEachRow<Awaited<ReturnType<typeof listExpiredUploads>>[number]>(deps, {
    name: 'delete-expired-uploads',
    page: (after, limit) => listExpiredUploads(deps.db, { after, limit }),
    work: async ({ uploadId }) => {
      await deps.media.delete(uploadKey(uploadId));
      await removeUpload(deps.db, uploadId);
      deps.onFinding('upload_expired');
    },
    onError: (err, { uploadId }) => notSettled(deps, { err, uploadId }, 'upload not deleted in this run'),
    rowLimitMs: slowRowMs,
  });
}
