import {
  type CountFilter,
  createdFromSql,
  createdToSql,
  filterParameterTypes,
  type FilterSqlParameters,
  isOfAccountSql,
  matchesFilterSql,
  type TaskFilter,
  withSearchValues,
} from './task-filter.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import type { Database } from '../../platform/database/database.ts';
import { many } from '../../platform/database/declare-statements.ts';
import { leastIdSql, namedParameters } from '../../platform/database/sql-fragments-and-parameters.ts';
import { creatorColumnSql, type NamedCreator } from './task-creator.ts';
import { taskColumns } from '../task-rows.ts';

export type TaskListFilter = TaskFilter & {
  /** The UUID of the last task of the page before. A task of another account leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
};

export type ListedTask = Task & {
  readonly createdBy: NamedCreator | undefined;
  readonly accountName?: string | undefined;
};

const { $, values: listValues } = namedParameters<Omit<TaskListFilter, 'search'> & FilterSqlParameters>({
  ...filterParameterTypes,
  after: 'uuid',
  state: 'text',
  failCodes: 'text[]',
  limit: 'bigint',
});
const conditions: Readonly<Record<Exclude<keyof TaskFilter, keyof CountFilter>, string>> = {
  state: `(${$.state} is null or state = ${$.state})`,
  failCodes: `(${$.failCodes} is null or (state = 'fail' and fail_code = any(${$.failCodes})))`,
};

/**
 * Lists tasks, newest first. The page begins at one row, that of the cursor or of `toMs`: with two conditions PostgreSQL would begin at
 * the less selective one and read the index from there.
 */
export const listTasks = many<ListedTask, [filter: TaskListFilter]>({
  name: 'list-tasks',
  plannedAnew: true,
  text: `
select ${taskColumns}, ${creatorColumnSql}, (select name from accounts where accounts.id = account_id) as "accountName" from tasks
where ${isOfAccountSql} and created_at >= ${createdFromSql}
  and (created_at, id) < (
    case when ${$.after} is null then ${createdToSql} else (select created_at from tasks where id = ${$.after} and ${isOfAccountSql}) end,
    coalesce(${$.after}, ${leastIdSql}))
  and (${$.toMs} is null or created_at < to_timestamp(${$.toMs} / 1000))
  and ${Object.values(conditions).join('\n  and ')}
  and ${matchesFilterSql}
order by created_at desc, id desc limit ${$.limit}`,
  values: (filter) => listValues(withSearchValues(filter)),
});

type ContentPage = {
  readonly accountId: string;
  readonly order: 'asc' | 'desc';
  readonly after?: string | undefined;
  readonly limit: number;
};

/** Lists the tasks of an account whose content was not deleted. A task of another account as `after` leads to an empty page. */
export function listTasksWithContent(db: Pick<Database, 'run'>, { order, accountId, after, limit }: ContentPage) {
  return (order === 'asc' ? listOldestFirst : listNewestFirst)(db, accountId, after, limit);
}

const listNewestFirst = listWithContent('desc', '<');
const listOldestFirst = listWithContent('asc', '>');

function listWithContent(order: ContentPage['order'], isBehind: '<' | '>') {
  return many<Task, [accountId: string, after: string | undefined, limit: number]>({
    name: `list-tasks-with-content-${order}`,
    plannedAnew: true,
    text: `
select ${taskColumns} from tasks
where account_id = $1 and content_deleted_at is null
  and ($2::uuid is null or (created_at, id) ${isBehind} (select created_at, id from tasks where id = $2 and account_id = $1))
order by created_at ${order}, id ${order} limit $3`,
  });
}
