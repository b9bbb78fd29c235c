import type { Task } from '../domain/task.ts';
import type { Database } from '../stores/database.ts';
import { findTask } from '../stores/tasks.ts';
import { HttpError } from './errors.ts';

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether this could be the id of a task; the database would refuse to look for anything else. */
export function isTaskId(text: string): boolean {
  return uuid.test(text);
}

/** The caller's task. Ids are opaque: another account's task, none, and what is no id of ours are the same to it. */
export async function ownTask(db: Database, taskId: string, accountId: string): Promise<Task> {
  const task = isTaskId(taskId) ? await findTask(db, taskId) : undefined;
  if (task === undefined || task.accountId !== accountId) throw new HttpError('task_not_found');
  return task;
}
