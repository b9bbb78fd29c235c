import type { Logger } from 'pino';
import type { Database } from '../../platform/database/database.ts';
import { uploadIdsOf } from '../../media/references/upload-limits-and-addresses.ts';
import { type ContentDeletionOutcome, deleteTaskContentInDatabase } from './content-deletion-rows.ts';
import { mediaUrlsOf } from '../../catalogue/input/task-input.ts';
import { fileKeysOfResult, type Task } from '../../catalogue/tasks/task.ts';

type FileDeps = { readonly resultStore: { readonly delete: (key: string) => Promise<void> }; readonly log: Logger };
export type DeleteTaskDeps = FileDeps & { readonly db: Database; readonly publicUrl: string };

/** Deletes the content of a task of the caller. Undefined for an unfinished task, which stays unchanged. */
export async function deleteContentOfEndedTask(deps: DeleteTaskDeps, task: Task) {
  const uploadIds = uploadIdsOf(deps.publicUrl, mediaUrlsOf(task.param.input));
  const deletion = await deleteTaskContentInDatabase(deps.db, task, uploadIds);
  return deletion && deleteResultFiles(deps, task, deletion);
}

/** Deletes the video before responding, because its links may have been shared. Housekeeping deletes the rest. */
export async function deleteResultFiles({ resultStore, log }: FileDeps, task: Task, deletion: ContentDeletionOutcome) {
  const { taskId, result } = task;
  if (deletion.changed && result !== undefined) {
    const files = fileKeysOfResult(result).map((key) => resultStore.delete(key));
    await Promise.all(files).catch((err: unknown) => log.warn({ err, taskId }, 'video not deleted yet'));
  }
  return { taskId, contentDeleteTime: deletion.deletedAt };
}
