import { uploadKey } from '../src/media/upload.ts';
import {
  clearJobs,
  finishDeletion,
  listNeededUploads,
  listOwedDeletions,
  type OwedDeletion,
} from '../src/tasks/content-deletion.ts';
import { findUpload, removeUpload } from '../src/media/uploads.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow } from './for-each-row.ts';
import { deleteTaskFiles } from './task-files.ts';

/** Deletes the files and histories of tasks whose content was deleted. The next run repeats what cannot be deleted yet. */
export async function sweepDeletions(deps: ActivityDeps): Promise<void> {
  await forEachRow<OwedDeletion>(deps, {
    name: 'sweep-deletions',
    page: (page) => listOwedDeletions(deps.db, page),
    work: (owed) => sweepDeletion(deps, owed),
  });
}

export async function sweepDeletion({ db, media, engine, log }: ActivityDeps, owed: OwedDeletion): Promise<void> {
  const { taskId, accountId, uploadIds } = owed;
  await deleteTaskFiles(media, taskId);
  const needed = new Set(
    uploadIds.length === 0 ? [] : (await listNeededUploads(db, accountId, uploadIds)).map(({ uploadId }) => uploadId),
  );
  for (const uploadId of uploadIds) if (!needed.has(uploadId)) await deleteUpload({ db, media }, uploadId);
  const running = await clearJobs(db, taskId);
  const isForgotten = await engine.forgetTask(taskId);
  // The final sweep ends also if a job's provider never responds.
  if (!isForgotten || needed.size > 0 || (running.length > 0 && !owed.isLast)) return;
  await finishDeletion(db, owed);
  // The log outlives the database: after a restore from an older backup the deletion must be repeated.
  log.info({ taskId, accountId }, 'content deleted');
}

export async function deleteUpload({ db, media }: Pick<ActivityDeps, 'db' | 'media'>, uploadId: string): Promise<void> {
  const upload = await findUpload(db, uploadId);
  if (upload === undefined) return;
  await media.delete(uploadKey({ uploadId, ...upload }));
  await removeUpload(db, uploadId);
}
