import {
  type CountFilter,
  createdFrom,
  createdTo,
  filterTypes,
  type FilterValues,
  isOfAccount,
  matchesFilter,
  type TaskFilter,
  withSearchValues,
} from './task-filter.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { listTaskEntries } from '../../credits/ledger/credits.ts';
import type { Database } from '../../platform/database/database.ts';
import { findDelivery, listDeliveryAttempts } from '../callbacks/deliveries.ts';
import { listProviderJobs } from '../jobs/provider-jobs.ts';
import { type AgedPageQuery, many, none, one } from '../../platform/database/statement.ts';
import { leastId, microseconds, pageStart, parametersOf } from '../../platform/database/sql.ts';
import { makerColumn, type Maker } from './task-maker.ts';
import { taskColumns } from '../task-rows.ts';
import { isUnfinished } from '../../catalogue/tasks/task-conditions.ts';

export type ListFilter = TaskFilter & {
  /** The UUID of the last task of the page before. A task of another account leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
};

export type ListedTask = Task & { readonly createdBy: Maker | undefined; readonly accountName?: string | undefined };

const { $, values: listValues } = parametersOf<Omit<ListFilter, 'search'> & FilterValues>({
  ...filterTypes,
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
export const listTasks = many<ListedTask, [filter: ListFilter]>({
  name: 'list-tasks',
  plannedAnew: true,
  text: `
select ${taskColumns}, ${makerColumn}, (select name from accounts where accounts.id = account_id) as "accountName" from tasks
where ${isOfAccount} and created_at >= ${createdFrom}
  and (created_at, id) < (
    case when ${$.after} is null then ${createdTo} else (select created_at from tasks where id = ${$.after} and ${isOfAccount}) end,
    coalesce(${$.after}, ${leastId}))
  and (${$.toMs} is null or created_at < to_timestamp(${$.toMs} / 1000))
  and ${Object.values(conditions).join('\n  and ')}
  and ${matchesFilter}
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

export type UnfinishedTask = Pick<Task, 'taskId' | 'accountId' | 'state'> & {
  readonly model: string;
  /** Milliseconds since its creation, by the database's clock. */
  readonly ageMs: number;
  /** The time in which its generation has run, over all attempts, until their last reports. */
  readonly ranMs: number;
  readonly deadlineMs: number;
  /**
   * True if the code of its workflow had failed when the workflow was last
   * described.
   */
  readonly isStuck: boolean;
  /** True if an attempt was alive in the last two minutes. */
  readonly isGenerating: boolean;
  /** True if its job has ended upstream and its video is not fetched yet. */
  readonly isFetching: boolean;
};

/** Lists unfinished tasks older than `minAgeMs`, oldest first. */
export const listUnfinishedTasks = many<UnfinishedTask, [page: AgedPageQuery]>({
  name: 'list-unfinished-tasks',
  text: `
select id as "taskId", account_id as "accountId", model, state, (extract(epoch from now() - created_at) * 1000)::bigint as "ageMs",
  generation_spent_ms + (extract(epoch from
    coalesce(attempt_seen_at - attempt_started_at, case when attempt_seen_at is null then now() - generation_started_at end,
      interval '0')) * 1000)::bigint as "ranMs",
  deadline_ms as "deadlineMs", stuck_since is not null as "isStuck",
  coalesce(attempt_seen_at > now() - interval '2 minutes', false) as "isGenerating",
  coalesce((select true from provider_jobs
    where task_id = tasks.id and upstream_ended_at is not null and outcome is null limit 1), false) as "isFetching"
from tasks
where ${isUnfinished} and created_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (created_at, id) > (select created_at, id from tasks where id = $2))
order by created_at, id limit $3`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after, limit],
});

const markStuckTask = {
  name: 'mark-stuck-task',
  text: `
update tasks set stuck_since = to_timestamp($2::float8 / 1000)
where id = $1 and ${isUnfinished}
  and stuck_since is distinct from to_timestamp($2::float8 / 1000)
returning id`,
};

/**
 * Records since when (Unix milliseconds) the code of the task's workflow has
 * failed; undefined if it runs again. Returns whether that is new.
 */
export async function markStuck(db: Database, taskId: string, since: number | undefined): Promise<boolean> {
  return (await db.run(markStuckTask, [taskId, since])).length > 0;
}

const countStuck = one<{ tasks: number }>({
  name: 'count-stuck-tasks',
  text: `
select count(*)::int as tasks from tasks
where stuck_since is not null and ${isUnfinished}`,
});

export async function countStuckTasks(db: Database): Promise<number> {
  return (await countStuck(db)).tasks;
}

/**
 * Lists tasks whose media must be deleted: successful ones past their retention, and failed ones after `leftoverMs`, because a killed
 * attempt may have left a file. Failed ones are listed again after 26 hours, because a cut-off worker continues for up to 24 hours.
 */
export const listExpiredMedia = many<
  { readonly taskId: string },
  [page: PageOf<{ readonly taskId: string }> & { readonly retentionMs: number; readonly leftoverMs: number }]
>({
  name: 'list-expired-media',
  text: `
select id as "taskId" from (
  ${expiredMedia(`state = 'success' and media_deleted_at is null and completed_at < now() - $1 * interval '1 millisecond'`)}
  union all
  ${expiredMedia(`state = 'fail' and media_deleted_at is null and completed_at < now() - $2 * interval '1 millisecond'`)}
  union all
  ${expiredMedia(`state = 'fail' and media_deleted_at - completed_at < interval '26 hours' and completed_at < now() - interval '26 hours'`)}
) expired order by completed_at, id limit $4`,
  values: ({ retentionMs, leftoverMs, after, limit }) => [retentionMs, leftoverMs, after?.taskId, limit],
});

function expiredMedia(condition: string): string {
  return `(select id, completed_at from tasks where ${condition}
    and ($3::uuid is null or (completed_at, id) > (select completed_at, id from tasks where id = $3))
    order by completed_at, id limit $4)`;
}

export const markMediaDeleted = none<[taskId: string]>({
  name: 'mark-media-deleted',
  text: `update tasks set media_deleted_at = now() where id = $1 and (media_deleted_at is null or state = 'fail')`,
});

/** A workflow to be terminated because its task is final; `failAndRefund` inserts it. */
export type WorkflowTermination = { readonly taskId: string; readonly reason: string; readonly dueAtUs: number };

type PageOf<Row> = { readonly after: Row | undefined; readonly limit: number };

/** Lists due terminations, oldest first. */
export const listDueTerminations = many<WorkflowTermination, [page: PageOf<WorkflowTermination>]>({
  name: 'list-due-terminations',
  text: `
select task_id as "taskId", reason, ${microseconds('due_at')} as "dueAtUs" from workflow_terminations
where due_at <= now() and (due_at, task_id) > ${pageStart('$1', '$2')}
order by due_at, task_id limit $3`,
  values: ({ after, limit }) => [after?.dueAtUs, after?.taskId, limit],
});

export const removeTermination = none<[taskId: string]>({
  name: 'remove-termination',
  text: `delete from workflow_terminations where task_id = $1`,
});

/**
 * Reads the ledger entries, upstream jobs and callback of a task, which are not
 * part of its record.
 */
export async function readTaskDetail(db: Database, taskId: string) {
  return {
    ledger: await listTaskEntries(db, taskId),
    providerJobs: await listProviderJobs(db, taskId),
    delivery: await findDelivery(db, taskId),
    attempts: await listDeliveryAttempts(db, taskId),
  };
}
