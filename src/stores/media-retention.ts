import type { TaskResult } from '../domain/task.ts';
import type { Database } from './database.ts';

const selectExpired = {
  name: 'list-expired-media',
  text: `
select id, result from tasks
where state = 'success' and media_deleted_at is null and completed_at < now() - $1 * interval '1 millisecond'
order by completed_at limit $2`,
};

/** Successful tasks whose media is older than its retention and still there, oldest first, a bounded page. */
export async function listExpiredMedia(
  db: Database,
  { retentionMs, limit }: { retentionMs: number; limit: number },
): Promise<readonly { readonly taskId: string; readonly result: TaskResult }[]> {
  const rows = await db.run<{ id: string; result: TaskResult }>(selectExpired, [retentionMs, limit]);
  return rows.map((row) => ({ taskId: row.id, result: row.result }));
}

const markDeleted = {
  name: 'mark-media-deleted',
  text: `update tasks set media_deleted_at = now() where id = $1 and media_deleted_at is null`,
};

/** Records that the media is gone; the task's record stays as it is. */
export async function markMediaDeleted(db: Database, taskId: string): Promise<void> {
  await db.run(markDeleted, [taskId]);
}
