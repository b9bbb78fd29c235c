import { Context } from '@temporalio/activity';
import {
  finishClosure,
  listClosuresToEmpty,
  listOpenClosures,
  listTasksToCancel,
  listTasksWithContent,
  listUploadsOf,
  markEmptied,
} from '../src/stores/account-closure.ts';
import {
  clearJobs,
  deleteTaskContent,
  finishDeletion,
  listNeededUploads,
  listOwedDeletions,
  type OwedDeletion,
} from '../src/stores/content-deletion.ts';
import { uploadKey } from '../src/domain/upload.ts';
import { cancelGraceMs, findTask, refundTask } from '../src/stores/tasks.ts';
import { removeUpload } from '../src/stores/uploads.ts';
import type { ActivityDeps } from './deps.ts';
import { forEachRow, inTurns, notSettled, type RowLoop, slowRowMs } from './for-each-row.ts';
import { imageFolderOf, incomingFolderOf, mediaKeysOf } from './task-files.ts';

/** Closures that one run works on, and of which it sees whether they are done. */
const [maxClosures, maxFinished] = [10, 200];

/**
 * Goes on with what was asked to be deleted: accounts that are closed, in parts, and then the files and histories of tasks. What
 * cannot be deleted yet is tried again in the next run, also after a crash in the middle.
 */
export async function deleteContent(deps: ActivityDeps, budgetMs: number): Promise<void> {
  await inTurns(budgetMs, [
    (shareMs) => emptyAccounts(deps, shareMs),
    (shareMs) => sweepTasks(deps, shareMs),
    (shareMs) => finishClosures(deps, shareMs),
  ]);
}

/** One account with a million tasks, or with a task that cannot be ended, delays no other one. */
async function emptyAccounts(deps: ActivityDeps, budgetMs: number): Promise<void> {
  const closures = await listClosuresToEmpty(deps.db, maxClosures);
  await inTurns(
    budgetMs,
    closures.map(
      ({ accountId }) =>
        (shareMs) =>
          emptyAccount(deps, accountId, shareMs),
    ),
  );
}

async function sweepTasks(deps: ActivityDeps, budgetMs: number): Promise<void> {
  await forEachRow<OwedDeletion>({
    page: (after, limit) => listOwedDeletions(deps.db, { after, limit }),
    work: (owed) => sweep(deps, owed),
    onError: (err, { taskId }) => notSettled(deps, { err, taskId }, 'content not deleted in this run'),
    budgetMs,
    rowLimitMs: slowRowMs,
  });
}

async function finishClosures(deps: ActivityDeps, budgetMs: number): Promise<void> {
  const closures = await listOpenClosures(deps.db, maxFinished);
  await forEachRow<string>({
    page: async (after) => (after === undefined ? closures.map(({ accountId }) => accountId) : []),
    work: async (accountId) => {
      if (await finishClosure(deps.db, accountId)) deps.log.info({ accountId }, 'closed account emptied');
    },
    onError: (err, accountId) => notSettled(deps, { err, accountId }, 'closure not finished in this run'),
    budgetMs,
  });
}

const closed = { failCode: 'cancelled', failMsg: 'The task was cancelled, because its account was closed.' } as const;

/** Ends what runs, and takes the contents out of the database. */
async function emptyAccount(deps: ActivityDeps, accountId: string, budgetMs: number): Promise<void> {
  const { db, engine, media, events } = deps;
  const onError = (err: unknown, id: string) => notSettled(deps, { err, accountId, id }, 'not deleted in this run');
  const loop = (part: Pick<RowLoop<string>, 'page' | 'work'>) => (shareMs: number) =>
    forEachRow({ ...part, onError, budgetMs: shareMs, rowLimitMs: slowRowMs });
  const takeContents = loop({
    page: async (after, limit) =>
      (await listTasksWithContent(db, accountId, { after, limit })).map((row) => row.taskId),
    work: async (taskId) => {
      const task = await findTask(db, taskId);
      if (task !== undefined) await deleteTaskContent(db, task, []);
    },
  });
  const emptied = inTurns(budgetMs, [
    loop({
      // A task that was ended is no longer listed, so each page is the first.
      page: async (_after, limit) => (await listTasksToCancel(db, accountId, limit)).map(({ taskId }) => taskId),
      work: async (taskId) => {
        const ended = await refundTask(db, taskId, closed, { terminatesAfterMs: cancelGraceMs });
        if (ended.changed) events.emit({ kind: 'task_ended', task: ended.task });
        await engine.cancelTask(taskId);
      },
    }),
    async (shareMs) => {
      try {
        await takeContents(shareMs);
      } finally {
        await markEmptied(db, accountId);
      }
    },
    loop({
      page: async (_after, limit) => (await listUploadsOf(db, accountId, limit)).map(({ uploadId }) => uploadId),
      work: (uploadId) => deleteUpload({ db, media }, uploadId),
    }),
  ]);
  await emptied.catch((err: unknown) => {
    Context.current().cancellationSignal.throwIfAborted();
    notSettled(deps, { err, accountId }, 'account not emptied in this run');
  });
}

/** Deletes what is left of a task outside the database. */
async function sweep({ db, media, engine, log }: ActivityDeps, owed: OwedDeletion): Promise<void> {
  const { taskId, accountId, uploadIds } = owed;
  await media.deleteFolder(imageFolderOf(taskId));
  await media.deleteFolder(incomingFolderOf(taskId));
  await Promise.all(Object.values(mediaKeysOf(taskId)).map((key) => media.delete(key)));
  const needed = new Set(
    uploadIds.length === 0 ? [] : (await listNeededUploads(db, accountId, uploadIds)).map(({ uploadId }) => uploadId),
  );
  for (const uploadId of uploadIds) if (!needed.has(uploadId)) await deleteUpload({ db, media }, uploadId);
  const running = await clearJobs(db, taskId);
  const isForgotten = await engine.forgetTask(taskId);
  // The last look is the last one, also at a job whose provider never answers.
  if (!isForgotten || needed.size > 0 || (running.length > 0 && !owed.isLast)) return;
  await finishDeletion(db, owed);
  // Outlives the database, which must be told again when it is restored from a backup of before.
  log.info({ taskId, accountId }, 'content deleted');
}

async function deleteUpload({ db, media }: Pick<ActivityDeps, 'db' | 'media'>, uploadId: string): Promise<void> {
  await media.delete(uploadKey(uploadId));
  await removeUpload(db, uploadId);
}
