import type { Task, TaskState } from '../domain/task.ts';
import type { Database, Statement } from './database.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';

export type TaskFilter = {
  readonly accountId: string;
  readonly state?: TaskState | undefined;
  readonly model?: string | undefined;
  /** Unix milliseconds of creation, from (inclusive) and to (exclusive). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The last task of the page before this one; a UUID. One that is not the account's leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
};

/**
 * An account's tasks, newest first, at most `limit`. Pages are cut by time of creation and id, so tasks that are created
 * meanwhile neither shift nor repeat what follows.
 */
export async function listTasks(db: Database, filter: TaskFilter): Promise<readonly Task[]> {
  const { accountId, state, model, fromMs, toMs, after, limit } = filter;
  const statement = state === undefined ? selectTasks : selectTasksIn[state];
  const rows = await db.run<TaskRow>(statement, [accountId, after, model, fromMs, toMs, limit]);
  return rows.map(taskFromRow);
}

/**
 * The state is written out in the text: only then does the planner see that a partial index serves it. Where the page
 * begins is one row to compare with, of the cursor or of `toMs`: given both as conditions, PostgreSQL would begin at
 * the wrong one and walk the index from there.
 */
function listStatement(name: string, condition: string): Statement {
  return {
    name: `list-tasks-${name}`,
    text: `
select ${taskColumns} from tasks
where account_id = $1 and ${condition} and ($3::text is null or model = $3)
  and created_at >= coalesce(to_timestamp($4::float8 / 1000), '-infinity')
  and (created_at, id) < (
    case when $2::uuid is null then coalesce(to_timestamp($5::float8 / 1000), 'infinity')
      else (select created_at from tasks where id = $2 and account_id = $1) end,
    coalesce($2, '00000000-0000-0000-0000-000000000000'))
  and ($5 is null or created_at < to_timestamp($5 / 1000))
order by created_at desc, id desc limit $6`,
  };
}

const selectTasks = listStatement('any', 'true');
const selectTasksIn: Readonly<Record<TaskState, Statement>> = {
  waiting: listStatement('waiting', `state = 'waiting'`),
  queuing: listStatement('queuing', `state = 'queuing'`),
  generating: listStatement('generating', `state = 'generating'`),
  success: listStatement('success', `state = 'success'`),
  fail: listStatement('fail', `state = 'fail'`),
};
