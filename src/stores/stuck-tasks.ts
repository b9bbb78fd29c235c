import type { Database } from './database.ts';

const mark = {
  name: 'mark-stuck-task',
  text: `
update tasks set stuck_since = to_timestamp($2::float8 / 1000)
where id = $1 and state in ('waiting', 'queuing', 'generating')
  and stuck_since is distinct from to_timestamp($2::float8 / 1000)
returning id`,
};

/**
 * The code of the task's workflow cannot go on, and has failed since then (Unix milliseconds); undefined when it goes on again. Answers
 * whether that is new.
 */
export async function markStuck(db: Database, taskId: string, since: number | undefined): Promise<boolean> {
  return (await db.run(mark, [taskId, since])).length > 0;
}

const count = {
  name: 'count-stuck-tasks',
  text: `
select count(*)::int as tasks from tasks
where stuck_since is not null and state in ('waiting', 'queuing', 'generating')`,
};

/** Unfinished tasks whose workflow's code could not go on when it was last looked at. */
export async function countStuckTasks(db: Database): Promise<number> {
  const [row] = await db.run<{ tasks: number }>(count);
  return row?.tasks ?? 0;
}
