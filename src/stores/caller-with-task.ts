import type { Task } from '../domain/task.ts';
import { hashApiKey, looksLikeApiKey } from './api-key-format.ts';
import { callerFromRow, callerQuery, type CallerRow, type FoundCaller } from './api-keys.ts';
import type { Database } from './database.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';

const selectCallerWithTask = {
  name: 'find-caller-with-task',
  text: `
with caller as (${callerQuery})
select caller.*, task.* from caller
left join lateral (select ${taskColumns} from tasks where id = $2 and account_id = caller_id) task on true`,
};

/**
 * Whose key this is, and the task with this id if it is the caller's own, in one statement: clients poll, and a poll that asks
 * twice costs twice. Undefined for a key that is no good; `taskId` must be a UUID, or undefined for no task.
 */
export async function findCallerWithTask(
  db: Database,
  key: string,
  taskId: string | undefined,
): Promise<{ readonly caller: FoundCaller; readonly task: Task | undefined } | undefined> {
  if (!looksLikeApiKey(key)) return undefined;
  type Row = CallerRow & (TaskRow | { id: null });
  const [row] = await db.run<Row>(selectCallerWithTask, [hashApiKey(key), taskId]);
  if (row === undefined) return undefined;
  return { caller: callerFromRow(row), task: row.id === null ? undefined : taskFromRow(row) };
}
