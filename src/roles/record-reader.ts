import { type TaskRecord, taskRecord } from '../domain/task-record.ts';
import type { ResultStore } from '../media/result-store.ts';
import { resultUrls } from '../media/result-urls.ts';
import type { Database } from '../stores/database.ts';
import { findTask } from '../stores/tasks.ts';

/** Reads the record of a task that has ended, with links signed for this very reading. Throws for an unknown task. */
export function createRecordReader(db: Database, store: ResultStore): (taskId: string) => Promise<TaskRecord> {
  return async (taskId) => {
    const task = await findTask(db, taskId);
    if (task === undefined) throw new Error(`task ${taskId} does not exist`);
    return taskRecord(task, 0, await resultUrls(store, task));
  };
}
