import { validate as isUuid } from 'uuid';
import type { Database } from '../../platform/database/database.ts';
import { many, one } from '../../platform/database/declare-statements.ts';
import { taskColumns } from '../task-rows.ts';
import type { Task } from '../../catalogue/tasks/task.ts';

// Numbered pages of an account's tasks, for APIs that have them. Counting reads every task that matches, which the time bounds.

/** Undefined filters match every task. */
export type NumberedPageQuery = {
  readonly accountId: string;
  /** `cancelled` stands for tasks that were cancelled, and `fail` for all others that failed. */
  readonly states?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly taskIds?: readonly string[] | undefined;
  /** From 1. */
  readonly page: number;
  readonly size: number;
};

const matching = `
account_id = $1 and created_at > now() - interval '7 days' and content_deleted_at is null
  and ($2::text[] is null or case when fail_code = 'cancelled' then fail_code else state end = any($2))
  and ($3::text is null or model = $3) and ($4::uuid[] is null or id = any($4))`;

function values({ accountId, states, model, taskIds }: NumberedPageQuery): readonly unknown[] {
  return [accountId, states, model, taskIds?.filter((id) => isUuid(id))];
}

const list = many<Task, [filter: NumberedPageQuery]>({
  name: 'list-recent-tasks',
  plannedAnew: true,
  text: `select ${taskColumns} from tasks where ${matching} order by created_at desc, id desc limit $5 offset $6`,
  values: (filter) => [...values(filter), filter.size, (filter.page - 1) * filter.size],
});

const count = one<{ readonly total: number }, [filter: NumberedPageQuery]>({
  name: 'count-recent-tasks',
  plannedAnew: true,
  text: `select count(*)::int as total from tasks where ${matching}`,
  values,
});

/** Reads a page of the tasks of the last seven days whose content was not deleted, newest first, and counts all of them. */
export async function readNumberedPage(db: Database, filter: NumberedPageQuery) {
  const [{ total }, tasks] = await Promise.all([count(db, filter), list(db, filter)]);
  return { total, tasks };
}
