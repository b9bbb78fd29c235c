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
  return listBy(ofAccount, db, filter);
}

/** As `listTasks`, of all accounts. Without `model`: looking for a rare one would read every task there is. */
export async function listTasksOfAll(
  db: Database,
  filter: Omit<TaskFilter, 'accountId' | 'model'>,
): Promise<readonly Task[]> {
  return listBy(ofAll, db, filter);
}

async function listBy(
  { any, byState }: Statements,
  db: Database,
  { accountId, state, model, fromMs, toMs, after, limit }: Partial<TaskFilter>,
): Promise<readonly Task[]> {
  const statement = state === undefined ? any : byState[state];
  const rows = await db.run<TaskRow>(statement, [accountId, after, model, fromMs, toMs, limit]);
  return rows.map(taskFromRow);
}

/**
 * The state is written out in the text: only then does the planner see that a partial index serves it. Where the page
 * begins is one row to compare with, of the cursor or of `toMs`: given both as conditions, PostgreSQL would begin at
 * the wrong one and walk the index from there.
 */
function listStatement(name: string, whose: string, condition: string): Statement {
  return {
    name: `list-tasks-${name}`,
    text: `
select ${taskColumns} from tasks
where ${whose} and ${condition} and ($3::text is null or model = $3)
  and created_at >= coalesce(to_timestamp($4::float8 / 1000), '-infinity')
  and (created_at, id) < (
    case when $2::uuid is null then coalesce(to_timestamp($5::float8 / 1000), 'infinity')
      else (select created_at from tasks where id = $2 and ${whose}) end,
    coalesce($2, '00000000-0000-0000-0000-000000000000'))
  and ($5 is null or created_at < to_timestamp($5 / 1000))
order by created_at desc, id desc limit $6`,
  };
}

type Statements = { readonly any: Statement; readonly byState: Readonly<Record<TaskState, Statement>> };

function listStatements(name: string, whose: string): Statements {
  const inState = (state: TaskState) => listStatement(`${name}-${state}`, whose, `state = '${state}'`);
  return {
    any: listStatement(name, whose, 'true'),
    byState: {
      waiting: inState('waiting'),
      queuing: inState('queuing'),
      generating: inState('generating'),
      success: inState('success'),
      fail: inState('fail'),
    },
  };
}

const ofAccount = listStatements('of-account', 'account_id = $1');
const ofAll = listStatements('of-all', '$1::uuid is null');
