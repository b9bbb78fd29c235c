import { type TaskRecord, taskRecord } from '../domain/task-record.ts';
import { isFinal, type Task } from '../domain/task.ts';
import { resultUrls } from '../media/result-urls.ts';
import type { HttpDeps } from './http-deps.ts';

/** The record of a task at this moment: a live one with the engine's progress, a finished one with fresh links. */
export async function readRecord(deps: Pick<HttpDeps, 'progressOf' | 'resultStore'>, task: Task): Promise<TaskRecord> {
  const [progress, urls] = await Promise.all([
    isFinal(task.state) ? 0 : deps.progressOf(task),
    resultUrls(deps.resultStore, task),
  ]);
  return taskRecord(task, progress, urls);
}
