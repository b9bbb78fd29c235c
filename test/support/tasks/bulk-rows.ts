import type { Database } from '../../../src/platform/database/database.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { acceptTestTask, taskParam } from './tasks.ts';

/** A failed task and copies of it, each older than the one before; returns all of their ids. */
export async function failedTasks(db: Database, accountId: string, total: number): Promise<readonly string[]> {
  const taskId = await acceptTestTask(db, accountId, taskParam('a secret'));
  await failAndRefund(db, taskId, { failCode: 'cancelled', failMsg: 'A test.' });
  const copy = `
    insert into tasks (id, account_id, model, price_name, param, state, credits_charged, credits_refunded, fail_code, fail_msg,
      request_sha256, deadline_ms, created_at, completed_at)
    select gen_random_uuid(), account_id, model, price_name, param, state, credits_charged, credits_refunded, fail_code, fail_msg,
      request_sha256, deadline_ms, created_at - n * interval '1 minute', completed_at
    from tasks cross join generate_series(1, $2) n where id = $1 returning id`;
  const copies = await db.run<{ id: string }>({ name: 'test-copy-task', text: copy, plannedAnew: true }, [
    taskId,
    total - 1,
  ]);
  return [taskId, ...copies.map(({ id }) => id)];
}

export async function addUploads(db: Database, accountId: string, total: number, expiresAt: string): Promise<void> {
  const text = `
    insert into uploads (id, account_id, file_name, bytes, expires_at)
    select gen_random_uuid(), $1, 'video.mp4', 1, ${expiresAt} from generate_series(1, $2) n`;
  await db.run({ name: 'test-add-uploads', text, plannedAnew: true }, [accountId, total]);
}
