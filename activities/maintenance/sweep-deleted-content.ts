import type { ResultStore } from '../../src/media/store/result-store.ts';
import { uploadKey } from '../../src/media/references/upload-rules.ts';
import {
  clearJobContent,
  finishDeletion,
  listNeededUploads,
  listOwedDeletions,
  type OwedDeletion,
} from '../../src/tasks/end/content-deletion.ts';
import type { WorkflowEngine } from '../../src/catalogue/tasks/workflow-engine.ts';
import { findUpload, removeUpload } from '../../src/media/references/upload-rows.ts';
import { sweepRowsFromCursor, type RowDeps } from './sweep-rows-from-cursor.ts';
import { deleteTaskFiles } from '../task-file-keys.ts';

export type SweepDeps = RowDeps & {
  readonly media: Pick<ResultStore, 'delete' | 'deleteFolder'>;
  readonly engine: Pick<WorkflowEngine, 'deleteTaskHistories'>;
};

/** Deletes the files and histories of tasks whose content was deleted from the database before. The next run repeats what cannot be deleted yet. */
export async function sweepDeletedContent(deps: SweepDeps): Promise<void> {
  await sweepRowsFromCursor<OwedDeletion>(deps, {
    name: 'sweep-deletions',
    page: (page) => listOwedDeletions(deps.db, page),
    work: (owed) => sweepDeletedTask(deps, owed),
  });
}

export async function sweepDeletedTask(
  { db, media, engine, log }: Omit<SweepDeps, 'events'>,
  owed: OwedDeletion,
): Promise<void> {
  const { taskId, accountId, uploadIds } = owed;
  await deleteTaskFiles(media, taskId);
  const needed = new Set(
    uploadIds.length === 0 ? [] : (await listNeededUploads(db, accountId, uploadIds)).map(({ uploadId }) => uploadId),
  );
  for (const uploadId of uploadIds) if (!needed.has(uploadId)) await deleteUpload({ db, media }, uploadId);
  const running = await clearJobContent(db, taskId);
  const isForgotten = await engine.deleteTaskHistories(taskId);
  // The final sweep ends also if a job's provider never responds.
  if (!isForgotten || needed.size > 0 || (running.length > 0 && !owed.isLast)) return;
  await finishDeletion(db, owed);
  // The log outlives the database: after a restore from an older backup the deletion must be repeated.
  log.info({ taskId, accountId }, 'content deleted');
}

type UploadDeps = Pick<SweepDeps, 'db'> & { readonly media: Pick<ResultStore, 'delete'> };

export async function deleteUpload({ db, media }: UploadDeps, uploadId: string): Promise<void> {
  const upload = await findUpload(db, uploadId);
  if (upload === undefined) return;
  await media.delete(uploadKey({ uploadId, ...upload }));
  await removeUpload(db, uploadId);
}
