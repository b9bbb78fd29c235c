import type { Database } from './database.ts';

const selectExpired = {
  name: 'list-expired-media',
  text: `
(select id from tasks
where state = 'success' and media_deleted_at is null and completed_at < now() - $1 * interval '1 millisecond'
order by completed_at limit $3)
union all
(select id from tasks
where state = 'fail' and media_deleted_at is null and completed_at < now() - $2 * interval '1 millisecond'
order by completed_at limit $3)
union all
(select id from tasks
where state = 'fail' and media_deleted_at - completed_at < interval '26 hours' and completed_at < now() - interval '26 hours'
order by completed_at limit $3)
limit $3`,
};

/**
 * Tasks whose media is to go, oldest first, a bounded page: successful ones past their retention, and failed ones after
 * `leftoverMs`, for an attempt that was killed or came too late may have left a file behind. These are listed once more after
 * 26 hours: an attempt on a worker that is cut off goes on until its deadline, of 24 hours at most, and leaves its file then.
 */
export async function listExpiredMedia(
  db: Database,
  { retentionMs, leftoverMs, limit }: { retentionMs: number; leftoverMs: number; limit: number },
): Promise<readonly string[]> {
  const rows = await db.run<{ id: string }>(selectExpired, [retentionMs, leftoverMs, limit]);
  return rows.map((row) => row.id);
}

const markDeleted = {
  name: 'mark-media-deleted',
  text: `update tasks set media_deleted_at = now() where id = $1 and (media_deleted_at is null or state = 'fail')`,
};

/** Records that the media is gone; the task's record stays as it is. */
export async function markMediaDeleted(db: Database, taskId: string): Promise<void> {
  await db.run(markDeleted, [taskId]);
}
