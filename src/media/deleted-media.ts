import { dayMs } from '../platform/duration.ts';
import type { Task } from '../tasks/task.ts';
import { HttpError } from '../http/errors.ts';

/** Explains when and why the video of a task was deleted. */
export function mediaDeleted(task: Task, retentionMs: number): HttpError {
  const { mediaDeletedAt, contentDeletedAt, completedAt = Infinity, state } = task;
  if (mediaDeletedAt === undefined || state !== 'success') return new HttpError('media_deleted');
  const isExpired = mediaDeletedAt - completedAt >= retentionMs;
  const isRequested = contentDeletedAt !== undefined && mediaDeletedAt >= contentDeletedAt;
  // Otherwise the store had lost it (`videogen media check --forget`).
  const reason = isExpired
    ? ` after its retention of ${Math.round(retentionMs / dayMs)} days`
    : isRequested
      ? ' on request'
      : '';
  const msg = `the video was deleted${reason}, on ${new Date(mediaDeletedAt).toISOString()}`;
  return new HttpError('media_deleted', { msg });
}
