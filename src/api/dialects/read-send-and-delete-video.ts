import type { Caller } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { requireOwnTask } from '../core/authentication.ts';
import { requireExisting, HttpError } from '../core/http-error.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import type { ResultStore } from '../../media/store/result-store.ts';
import { mediaDeletedError, type SendMediaDeps, sendMedia } from '../media/send-media.ts';
import { type CancelTaskDeps, cancelOwnTask } from '../../tasks/end/cancel-task.ts';
import { type DeleteTaskDeps, deleteContentOfEndedTask } from '../../tasks/end/delete-content-of-task.ts';
import { requireDeletion } from '../tasks/delete-task-routes.ts';
import type { ReadTaskRecorder } from '../../tasks/list/record-tasks-seen.ts';
import { isFinalState, type Task } from '../../catalogue/tasks/task.ts';

export type ReadTaskDeps = WithDb & { readonly seenTasks: ReadTaskRecorder };

export async function readOwnTaskAndMarkRead(
  { db, seenTasks }: ReadTaskDeps,
  caller: Caller,
  id: string | undefined,
): Promise<Task> {
  const task = await requireOwnTask(db, id ?? '', caller.accountId);
  await seenTasks.record(caller.by, [task]);
  return task;
}

/** Reads a task of the caller. One whose content was deleted is not found, as in other APIs. */
export async function readUndeletedAndMarkRead(
  deps: ReadTaskDeps,
  caller: Caller,
  id: string | undefined,
): Promise<Task> {
  const task = await readOwnTaskAndMarkRead(deps, caller, id);
  if (task.contentDeletedAt !== undefined) throw new HttpError('task_not_found');
  return task;
}

export const contentEndpointFields = {
  sendsFile: ['video/mp4', 'image/jpeg'],
  description:
    'Sends the file, or the part that `Range` names. A service whose operator has set `CONTENT_REDIRECT` redirects to a signed link instead, ' +
    'which needs no key.',
} as const;

export const contentFailures = [
  'task_not_finished',
  'task_failed',
  'media_missing',
  'media_deleted',
  'media_unavailable',
  'precondition_failed',
  'range_not_satisfiable',
] as const;

export type ContentDeps = SendMediaDeps & {
  readonly resultStore: Pick<ResultStore, 'attachment' | 'link'>;
  /** Content endpoints redirect to signed links instead of sending the bytes. */
  readonly redirectsContent: boolean;
};

/** Sends the video of a task that has ended, or its poster. */
export async function sendVideoOrPoster(ctx: Context, deps: ContentDeps, task: Task, file: 'videoKey' | 'posterKey') {
  if (!isFinalState(task.state)) throw new HttpError('task_not_finished', { msg: 'the video is not completed yet' });
  if (task.failure !== undefined) {
    const { failCode, failMsg } = task.failure;
    throw new HttpError('task_failed', { msg: `the video failed, so it has no content: ${failMsg} (${failCode})` });
  }
  const key = requireExisting(task.result, 'media_missing')[file];
  if (task.mediaDeletedAt !== undefined) throw mediaDeletedError(task, deps.retentionMs);
  if (deps.redirectsContent) {
    ctx.status = 302;
    ctx.set('Location', deps.resultStore.link(key));
    return;
  }
  const link = requireExisting(deps.resultStore.attachment(key), 'media_missing');
  // With `If-Range` the part depends on a tag, which a bucket does not compare; the whole file is always right.
  const range = ctx.get('If-Range') === '' ? ctx.get('Range') || undefined : undefined;
  await sendMedia(ctx, deps, { link, seconds: 0, passing: { range } });
}

/** A deletion that is repeated within this time is a retry, as a repeated create is (answer-repeated-creates.ts). */
const repeatMs = 60_000;

export type RemoveDeps = CancelTaskDeps & DeleteTaskDeps & WithClock;

/**
 * Cancels an unfinished task with a refund; the endpoint has checked the scope `tasks:write`. Deletes the content of any other task, which
 * requires `content:delete`. A client that has lost the response repeats the request: within a minute of the cancellation it changes nothing.
 */
export async function cancelOrDeleteVideo(deps: RemoveDeps, caller: Caller, id: string | undefined): Promise<string> {
  const { taskId, state, failure, completedAt = 0 } = await requireOwnTask(deps.db, id ?? '', caller.accountId);
  if (failure?.failCode === 'cancelled' && deps.now() - completedAt < repeatMs) return taskId;
  const mayDelete = caller.scopes.includes('content:delete');
  // A cancelled task has nothing but its prompt, so a repeated request needs no further scope.
  if (!isFinalState(state) || !mayDelete) {
    const { cancelled } = await cancelOwnTask(deps, taskId);
    if (cancelled) return taskId;
  }
  if (!mayDelete) {
    const msg = 'the API key lacks the scope content:delete, which is required to delete a video that has ended';
    throw new HttpError('scope_missing', { msg });
  }
  requireDeletion(await deleteContentOfEndedTask(deps, await requireOwnTask(deps.db, taskId, caller.accountId)));
  return taskId;
}
