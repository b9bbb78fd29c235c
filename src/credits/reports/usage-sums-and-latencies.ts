import { erasedUser } from '../../accounts/people/erasure.ts';
import { many, one } from '../../platform/database/declare-statements.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

// Reports of cost and success of an account's tasks, by the UTC day of their creation. Unlike the ledger's sums, a refund counts on the day
// of its task, so that each day shows what its tasks cost in the end. A final task never changes, so housekeeping adds each one
// to `usage_days` and `usage_latencies` once, in the order of their ends; tasks after its cursor are added up by each read.

/** `key` and `person`: who created the task. */
export const usageGroups = ['model', 'key', 'person'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Both days are included; `2026-01-31`. */
type Days = { readonly accountId: string; readonly from: string; readonly to: string };
type GroupedDays = Days & {
  /** Groups that cost less than this many others are added up. */
  readonly maxGroups: number;
};

type Counts = {
  readonly tasks: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Charges less refunds. */
  readonly credits: number;
};

export type GroupUsageDay = Counts & {
  readonly day: string;
  /** A model, or the id of a key or person; undefined for tasks that the other kind created. */
  readonly id: string | undefined;
  /** The name of the key, or the e-mail address of the person. */
  readonly name: string | undefined;
  /** The sum of all further groups; it has no id. */
  readonly isRest: boolean;
};

const dayOf = `(created_at at time zone 'UTC')::date`;

/** The width of buckets: a latency within one is known to 5 %. */
const bucketBase = 1.1;

const latency = `greatest(1, 1000 * extract(epoch from completed_at - created_at)::float8)`;
const bucketOf = `floor(ln(${latency}) / ln(${bucketBase}::float8))::smallint`;

export function latencyBucketMiddleMs(bucket: number): number {
  return Math.round(bucketBase ** (bucket + 0.5));
}

const countsOf = `1 as tasks, (state = 'success')::int as succeeded, (state = 'fail')::int as failed,
  credits_charged - credits_refunded as credits`;
const sums = `sum(tasks)::int as tasks, sum(succeeded)::int as succeeded, sum(failed)::int as failed, sum(credits)::bigint as credits`;

const cursor = `(select usage_counted_at, usage_counted_id from maintenance)`;

/**
 * The maximum of ended tasks of all accounts that a read adds up. Housekeeping leaves fewer, unless it has not run for a long time; then
 * reports lack the newest tasks.
 */
const maxRecent = 20_000;

/** SQL for the account's tasks that are in no sum yet. Without a low limit the planner would read the whole table. */
const uncounted = (columns: string) => `
  select ${columns} from tasks where account_id = $1 and ${unfinishedTaskSql} and ${dayOf} between $2::date and $3::date
  union all
  select ${columns} from (
    select * from tasks where completed_at is not null and (completed_at, id) > ${cursor} order by completed_at, id limit ${maxRecent}
  ) recent where account_id = $1 and ${dayOf} between $2::date and $3::date`;

const counted = `(
  select day, model, key_id, user_id, tasks, succeeded, failed, credits from usage_days
  where account_id = $1 and day between $2::date and $3::date
  union all ${uncounted(`${dayOf} as day, model, key_id, user_id, ${countsOf}`)}
) counted`;

const groups: Record<UsageGroup, { readonly id: string; readonly name: string }> = {
  model: { id: 'model', name: 'null' },
  key: { id: 'key_id', name: '(select name from api_keys where api_keys.id = grouped.id)' },
  person: {
    id: 'user_id',
    name: `case when id is not null then coalesce((select email from users where users.id = grouped.id), '${erasedUser}') end`,
  },
};

const valuesOf = ({ accountId, from, to }: Days) => [accountId, from, to];

const groupDays = (group: UsageGroup) =>
  many<GroupUsageDay, [days: GroupedDays]>({
    name: `list-usage-by-${group}`,
    text: `
select to_char(day, 'YYYY-MM-DD') as day, id, ${groups[group].name} as name, "isRest", tasks, succeeded, failed, credits
from (
  select day, case when rank <= $4 then id end as id, rank > $4 as "isRest", ${sums}
  from (
    select *, dense_rank() over (order by total desc, id nulls last) as rank
    from (
      select *, sum(credits) over (partition by id) as total
      from (select day, ${groups[group].id} as id, ${sums} from ${counted} group by 1, 2) by_day
    ) totals
  ) ranked
  group by 1, 2, 3
) grouped
order by day, "isRest", credits desc, id`,
    values: (days) => [...valuesOf(days), days.maxGroups],
  });

export const usageQueriesByGroup: Record<UsageGroup, ReturnType<typeof groupDays>> = {
  model: groupDays('model'),
  key: groupDays('key'),
  person: groupDays('person'),
};

/** The tasks of a model that succeeded, by the time from their acceptance to their end. */
export type LatencyBucket = { readonly model: string; readonly bucket: number; readonly tasks: number };

export const listLatencyBuckets = many<LatencyBucket, [days: Days]>({
  name: 'list-usage-latencies',
  text: `
select model, bucket, sum(tasks)::int as tasks
from (
  select model, bucket, tasks from usage_latencies where account_id = $1 and day between $2::date and $3::date
  union all
  select model, bucket, 1 from (${uncounted(`model, state, ${bucketOf} as bucket`)}) uncounted where state = 'success'
) latencies
group by model, bucket order by model, bucket`,
  values: valuesOf,
});

/** A transaction that ended a task may still be committing for this long. */
const committedAfter = `interval '1 minute'`;

/**
 * Adds the next tasks to the sums and returns their number. The cursor moves in the same statement, and its lock orders
 * concurrent runs, so each task counts once.
 */
export const addTasksToUsageSums = one<{ readonly tasks: number }, [limit: number]>({
  name: 'count-usage',
  text: `
with since as materialized (
  select usage_counted_at, usage_counted_id from maintenance for update
), page as materialized (
  select account_id, ${dayOf} as day, model, key_id, user_id, state, ${countsOf}, ${bucketOf} as bucket, completed_at, id
  from tasks
  where completed_at is not null and completed_at < now() - ${committedAfter}
    and (completed_at, id) > ((select usage_counted_at from since), (select usage_counted_id from since))
  order by completed_at, id limit $1
), moved as (
  update maintenance set usage_counted_at = last.completed_at, usage_counted_id = last.id
  from (select completed_at, id from page order by completed_at desc, id desc limit 1) last
), days as (
  insert into usage_days (account_id, day, model, key_id, user_id, tasks, succeeded, failed, credits)
  select account_id, day, model, key_id, user_id, ${sums} from page group by account_id, day, model, key_id, user_id
  on conflict (account_id, day, model, key_id, user_id) do update set tasks = usage_days.tasks + excluded.tasks,
    succeeded = usage_days.succeeded + excluded.succeeded, failed = usage_days.failed + excluded.failed,
    credits = usage_days.credits + excluded.credits
), latencies as (
  insert into usage_latencies (account_id, day, model, bucket, tasks)
  select account_id, day, model, bucket, count(*) from page where state = 'success' group by account_id, day, model, bucket
  on conflict (account_id, day, model, bucket) do update set tasks = usage_latencies.tasks + excluded.tasks
)
select count(*)::int as tasks from page`,
});
