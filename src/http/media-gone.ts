import type { Task } from '../domain/task.ts';
import { HttpError } from './errors.ts';

const dayMs = 86_400_000;

/** Says when and why the video of a task was deleted, for one that was. */
export function mediaGone(
  {
    mediaDeletedAt,
    contentDeletedAt,
    completedAt = Infinity,
    state,
  }: Pick<Task, 'mediaDeletedAt' | 'contentDeletedAt' | 'completedAt' | 'state'>,
  retentionMs: number,
): HttpError {
  if (mediaDeletedAt === undefined || state !== 'success') return new HttpError('media_deleted');
  const when = `the file is no longer kept: the video was deleted on ${new Date(mediaDeletedAt).toISOString()}`;
  // Before the end of the retention it was deleted on request, or an operator's store had lost it (`videogen media check --forget`).
  const isExpired = mediaDeletedAt - completedAt >= retentionMs;
  const isRequested = contentDeletedAt !== undefined && mediaDeletedAt >= contentDeletedAt;
  const why = isExpired
    ? `, because videos are kept for ${Math.round(retentionMs / dayMs)} days`
    : isRequested
      ? ', on request'
      : '';
  return new HttpError('media_deleted', { msg: `${when}${why}` });
}
