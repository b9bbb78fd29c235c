import { isFinal, type Task } from '../domain/task.ts';
import type { Database } from './database.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';

const selectTask = { name: 'find-task', text: `select ${taskColumns} from tasks where id = $1` };

/** The task, whoever owns it, or undefined. `taskId` must be a UUID. */
export async function findTask(db: Database, taskId: string): Promise<Task | undefined> {
  const [row] = await db.run<TaskRow>(selectTask, [taskId]);
  return row === undefined ? undefined : taskFromRow(row);
}

const selectEnded = {
  name: 'list-ended-among',
  text: `select id from tasks where id = any($1::uuid[]) and state in ('success', 'fail')`,
};

/** Which of these tasks are final; the caller bounds how many it asks about. */
export async function listEndedAmong(db: Database, taskIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.run<{ id: string }>(selectEnded, [taskIds]);
  return new Set(rows.map(({ id }) => id));
}

const markQueuing = {
  name: 'mark-queuing',
  text: `update tasks set state = 'queuing', updated_at = now() where id = $1 and state = 'waiting' returning ${taskColumns}`,
};

/** The workflow has begun: `waiting` becomes `queuing`; any later state stays. Answers the task, or undefined when there is none. */
export async function confirmCharge(db: Database, taskId: string): Promise<Task | undefined> {
  const [row] = await db.run<TaskRow>(markQueuing, [taskId]);
  return row === undefined ? findTask(db, taskId) : taskFromRow(row);
}

const markGenerating = {
  name: 'mark-generating',
  text: `
update tasks set state = 'generating', generation_started_at = now(), updated_at = now()
where id = $1 and state in ('waiting', 'queuing') returning ${taskColumns}`,
};

/**
 * Generation has begun. The first call sets `generationStartedAt`, from which the deadline counts; later ones keep it, and
 * are told that they are not the first. Answers undefined when the task is final or unknown: there is nothing to generate.
 */
export async function startGeneration(
  db: Database,
  taskId: string,
): Promise<(Task & { readonly isFirst: boolean }) | undefined> {
  const [row] = await db.run<TaskRow>(markGenerating, [taskId]);
  if (row !== undefined) return { ...taskFromRow(row), isFirst: true };
  const task = await findTask(db, taskId);
  return task === undefined || isFinal(task.state) ? undefined : { ...task, isFirst: false };
}

export type UnfinishedTask = Pick<Task, 'taskId' | 'accountId' | 'state'> & {
  readonly model: string;
  /** Milliseconds since it was accepted, by the database's clock. */
  readonly ageMs: number;
  /** Milliseconds since the first start of its generation; undefined before. */
  readonly generatingMs: number | undefined;
};

const selectUnfinished = {
  name: 'list-unfinished-tasks',
  text: `
select id, account_id, model, state, (extract(epoch from now() - created_at) * 1000)::bigint as age_ms,
  (extract(epoch from now() - generation_started_at) * 1000)::bigint as generating_ms
from tasks
where state in ('waiting', 'queuing', 'generating') and created_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (created_at, id) > (select created_at, id from tasks where id = $2))
order by created_at, id limit $3`,
};

type UnfinishedRow = {
  id: string;
  account_id: string;
  model: string;
  state: Task['state'];
  age_ms: number;
  generating_ms: number | null;
};

/** Unfinished tasks older than `minAgeMs` in order of arrival, a bounded page of them after the given one. */
export async function listUnfinishedTasks(
  db: Database,
  { minAgeMs, after, limit }: { minAgeMs: number; after?: string | undefined; limit: number },
): Promise<readonly UnfinishedTask[]> {
  const rows = await db.run<UnfinishedRow>(selectUnfinished, [minAgeMs, after, limit]);
  return rows.map((row) => ({
    taskId: row.id,
    accountId: row.account_id,
    model: row.model,
    state: row.state,
    ageMs: row.age_ms,
    generatingMs: row.generating_ms ?? undefined,
  }));
}
