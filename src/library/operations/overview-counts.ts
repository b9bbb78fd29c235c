import { many, one } from '../../platform/database/declare-statements.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

// Sums over the whole installation for operators, without tasks that ended long ago.

/** Bounds the tasks that are read: the newest ones of the last 24 hours, and the oldest unfinished ones. */
export const maxTasksRead = 200_000;

export type UnfinishedCount = {
  readonly model: string;
  readonly state: 'waiting' | 'queuing' | 'generating';
  readonly tasks: number;
  /** Milliseconds since the oldest of them was accepted, by the database's clock. */
  readonly oldestMs: number;
};

export const countUnfinishedTasks = many<UnfinishedCount>({
  name: 'count-unfinished-tasks',
  text: `
select model, state, count(*)::int as tasks, (extract(epoch from now() - min(created_at)) * 1000)::bigint as "oldestMs"
from (
  select model, state, created_at from tasks where ${unfinishedTaskSql}
  order by created_at limit ${maxTasksRead}
) unfinished
group by 1, 2 order by 1, 2`,
});

export type TasksCreatedInDay = { readonly created: number; readonly charged: number };

export const sumTasksCreatedInDay = one<TasksCreatedInDay>({
  name: 'sum-created-of-day',
  text: `
select count(*)::int as created, coalesce(sum(credits_charged), 0)::bigint as charged from (
  select credits_charged from tasks where created_at > now() - interval '1 day'
  order by created_at desc, id desc limit ${maxTasksRead}
) recent`,
});

/** Tasks that ended in the last 24 hours; `failCode` is undefined for success. */
export type TasksEndedInDay = {
  readonly failCode: string | undefined;
  readonly tasks: number;
  readonly refunded: number;
};

export const sumTasksEndedInDay = many<TasksEndedInDay>({
  name: 'sum-ended-of-day',
  text: `
select fail_code as "failCode", count(*)::int as tasks, sum(credits_refunded)::bigint as refunded from (
  select fail_code, credits_refunded from tasks
  where completed_at is not null and completed_at > now() - interval '1 day'
  order by completed_at desc limit ${maxTasksRead}
) ended
group by 1 order by 2 desc, 1`,
});

/** Larger counts of callbacks are reported as this number. */
export const maxCallbacksCounted = 100_000;

export type CallbackBacklog = {
  /** To be delivered, now or after a pause of the schedule. */
  readonly pending: number;
  /** Pending ones whose next attempt should have begun. */
  readonly due: number;
  /** Pending ones that are due for more than a minute: nothing attempts them, or the attempt takes long. */
  readonly overdue: number;
  readonly oldestDueMs: number;
  /** Failed or refused for good in the last 24 hours. */
  readonly undelivered: number;
};

export const readCallbackBacklog = one<CallbackBacklog>({
  name: 'read-callback-backlog',
  text: `
select count(*)::int as pending, count(*) filter (where due_at <= now())::int as due,
  count(*) filter (where due_at < now() - interval '1 minute')::int as overdue,
  coalesce(greatest(0, extract(epoch from now() - min(due_at)) * 1000), 0)::bigint as "oldestDueMs",
  (select count(*)::int from (
    select from callback_deliveries where state in ('failed', 'rejected') and finished_at > now() - interval '1 day'
    limit ${maxCallbacksCounted}) ended) as undelivered
from (
  select due_at from callback_deliveries where state = 'pending' order by due_at limit ${maxCallbacksCounted}
) pending`,
});
