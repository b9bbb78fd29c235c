import type { ResultStore } from '../../src/media/store/result-store.ts';
import { uploadKey } from '../../src/media/references/upload-limits-and-addresses.ts';
import {
  clearContentAndListLeftoverJobs,
  finishDeletionSweep,
  listNeededUploads,
  listOwedDeletions,
  type OwedDeletion,
} from '../../src/tasks/end/content-deletion-rows.ts';
import type { WorkflowEngine } from '../../src/catalogue/tasks/workflow-engine.ts';
import { findUploadFileName, removeUpload } from '../../src/media/references/upload-rows.ts';
import { processRowsFromStoredCursor, type RowProcessingDeps } from './process-rows-from-cursor.ts';
import { deleteTaskFiles } from '../task-file-keys-and-deletion.ts';

export type SweepDeps = RowProcessingDeps & {
  readonly media: Pick<ResultStore, 'delete' | 'deleteFolder'>;
  readonly engine: Pick<WorkflowEngine, 'deleteTaskHistories'>;
};

/** Deletes the files and histories of tasks whose content was deleted from the database before. The next run repeats what cannot be deleted yet. */
export async function deleteOwedFilesAndHistories(deps: SweepDeps): Promise<void> {
  await processRowsFromStoredCursor<OwedDeletion>(deps, {
    name: 'sweep-deletions',
    page: (page) => listOwedDeletions(deps.db, page),
    work: (owed) => deleteFilesAndHistoriesOfTask(deps, owed),
  });
}

export async function deleteFilesAndHistoriesOfTask(
  { db, media, engine, log }: Omit<SweepDeps, 'events'>,
  owed: OwedDeletion,
): Promise<void> {
  const { taskId, accountId, uploadIds } = owed;
  await deleteTaskFiles(media, taskId);
  const needed = new Set(
    uploadIds.length === 0 ? [] : (await listNeededUploads(db, accountId, uploadIds)).map(({ uploadId }) => uploadId),
  );
  for (const uploadId of uploadIds) if (!needed.has(uploadId)) await deleteUpload({ db, media }, uploadId);
  const running = await clearContentAndListLeftoverJobs(db, taskId);
  const isForgotten = await engine.deleteTaskHistories(taskId);
  // The final sweep ends also if a job's provider never responds.
  if (!isForgotten || needed.size > 0 || (running.length > 0 && !owed.isLast)) return;
  await finishDeletionSweep(db, owed);
  // The log outlives the database: after a restore from an older backup the deletion must be repeated.
  log.info({ taskId, accountId }, 'content deleted');
}

type UploadDeps = Pick<SweepDeps, 'db'> & { readonly media: Pick<ResultStore, 'delete'> };

export async function deleteUpload({ db, media }: UploadDeps, uploadId: string): Promise<void> {
  const upload = await findUploadFileName(db, uploadId);
  if (upload === undefined) return;
  await media.delete(uploadKey({ uploadId, ...upload }));
  await removeUpload(db, uploadId);
}
