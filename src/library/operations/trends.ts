import { many } from '../../platform/database/declare-statements.ts';
import type { Database } from '../../platform/database/database.ts';
import { dayMs, hourMs } from '../../platform/timing/milliseconds-per-unit.ts';
import {
  type FailCode,
  failCodes,
  outcomeOfFailCode,
  rejectedCodes,
} from '../../catalogue/tasks/fail-codes-and-outcomes.ts';
import { maxTasksRead } from './overview-counts.ts';

// Figures of the whole installation over time. Each statement reads the tasks of the range by an index on their time, at most
// `maxTasksRead` of them, and their jobs by key.

export const trendRanges = ['day', 'week', 'month'] as const;
export type TrendRange = (typeof trendRanges)[number];

const buckets: Readonly<Record<TrendRange, { readonly bucketMs: number; readonly count: number }>> = {
  day: { bucketMs: hourMs, count: 24 },
  week: { bucketMs: 6 * hourMs, count: 28 },
  month: { bucketMs: dayMs, count: 30 },
};

/** A period of whole buckets in UTC; the last bucket is not over yet. Unix milliseconds. */
export type TrendPeriod = { readonly bucketMs: number; readonly startTimes: readonly number[] };

export function trendBuckets(range: TrendRange, nowMs: number): TrendPeriod {
  const { bucketMs, count } = buckets[range];
  const last = Math.floor(nowMs / bucketMs) * bucketMs;
  return { bucketMs, startTimes: Array.from({ length: count }, (_, index) => last - (count - 1 - index) * bucketMs) };
}

/** Sums of one bucket, or of the whole period where `bucket` is undefined. */
type OfBucket = { readonly bucket: number | undefined };

type Request = { readonly fromMs: number; readonly bucketMs: number };

const bucketOf = (time: string) => `(floor(extract(epoch from ${time}) * 1000 / $2::float8) * $2)::bigint`;
const spread = (ms: string, condition: string) => `
  (percentile_cont(0.5) within group (order by ${ms}) filter (where ${condition}))::bigint as "p50Ms",
  (percentile_cont(0.95) within group (order by ${ms}) filter (where ${condition}))::bigint as "p95Ms"`;
const millis = (interval: string) => `extract(epoch from ${interval}) * 1000`;

type EndedInBucket = OfBucket & {
  readonly ended: number;
  readonly succeeded: number;
  /** Without cancelled tasks, and without those whose content was rejected. */
  readonly failed: number;
  /** Charges less refunds. */
  readonly credits: number;
  /** From the acceptance of a task to its end in success. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
};

const readEndedTasks = many<EndedInBucket, [request: Request]>({
  name: 'read-ended-tasks',
  plannedAnew: true,
  text: `
select bucket, count(*)::int as ended, count(*) filter (where state = 'success')::int as succeeded,
  count(*) filter (where fail_code = any($3))::int as failed,
  coalesce(sum(credits_charged - credits_refunded), 0)::bigint as credits, ${spread('took_ms', `state = 'success'`)}
from (
  select ${bucketOf('completed_at')} as bucket, state, fail_code, credits_charged, credits_refunded,
    ${millis('completed_at - created_at')} as took_ms
  from tasks where completed_at is not null and completed_at >= to_timestamp($1::float8 / 1000)
  order by completed_at desc limit ${maxTasksRead}
) ended
group by grouping sets ((bucket), ())`,
  values: ({ fromMs, bucketMs }) => [fromMs, bucketMs, countedFailures],
});

const countedFailures: readonly FailCode[] = failCodes.filter((code) => outcomeOfFailCode(code) === 'failed');

const countCreatedTasks = many<OfBucket & { readonly created: number }, [request: Request]>({
  name: 'count-created-tasks',
  plannedAnew: true,
  text: `
select ${bucketOf('created_at')} as bucket, count(*)::int as created from (
  select created_at from tasks where created_at >= to_timestamp($1::float8 / 1000) order by created_at desc limit ${maxTasksRead}
) created
group by grouping sets ((1), ())`,
  values: ({ fromMs, bucketMs }) => [fromMs, bucketMs],
});

export type JobsInBucket = OfBucket & {
  readonly provider: string | undefined;
  readonly jobs: number;
  /** Requests without a job, failed and lost jobs. */
  readonly errors: number;
  /** Requests and videos that the provider refused because of their content. */
  readonly refused: number;
  readonly costMicros: number;
  /** Jobs of unknown cost, or billed in another currency. */
  readonly unpricedJobs: number;
  /** From the acceptance of a job to its end in success. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
};

const isRefused = `coalesce(outcome = 'refused' or (outcome = 'fail' and fail_code = any($4)), false)`;

/** Jobs of the tasks that ended, by the time of that end: of each provider, and of all of them (`provider` undefined). */
const readJobs = many<JobsInBucket, [request: Request & { readonly currency: string }]>({
  name: 'read-jobs-over-time',
  plannedAnew: true,
  text: `
select bucket, provider, count(*)::int as jobs,
  count(*) filter (where outcome in ('fail', 'abandoned', 'not_created') and not ${isRefused})::int as errors,
  count(*) filter (where ${isRefused})::int as refused,
  coalesce(sum(cost_micros) filter (where cost_currency = $3), 0)::bigint as "costMicros",
  count(*) filter (where cost_currency <> $3 or (pool is not null and coalesce(cost_basis, 'unknown') = 'unknown'
    and coalesce(outcome, '') not in ('not_created', 'refused')))::int as "unpricedJobs",
  ${spread('took_ms', `outcome = 'success'`)}
from (
  select bucket, provider, pool, outcome, fail_code, cost_micros, cost_currency, cost_basis,
    ${millis('coalesce(upstream_ended_at, ended_at) - coalesce(submitted_at, intended_at)')} as took_ms
  from (
    select id, ${bucketOf('completed_at')} as bucket from tasks
    where completed_at is not null and completed_at >= to_timestamp($1::float8 / 1000)
    order by completed_at desc limit ${maxTasksRead}
  ) ended
  join provider_jobs on task_id = id and intended_at is not null
) job
group by grouping sets ((bucket, provider), (provider), (bucket), ())`,
  values: ({ fromMs, bucketMs, currency }) => [fromMs, bucketMs, currency, rejectedCodes],
});

export const topAccountOrders = ['credits', 'tasks'] as const;
type TopAccountOrder = (typeof topAccountOrders)[number];

type TopAccount = {
  readonly accountId: string;
  readonly accountName: string;
  readonly tasks: number;
  readonly succeeded: number;
  readonly credits: number;
};

/** The accounts with the most credits or tasks, of the tasks accepted since `fromMs`. */
export const listTopAccounts = many<TopAccount, [fromMs: number, order: TopAccountOrder]>({
  name: 'list-top-accounts',
  plannedAnew: true,
  text: `
select account_id as "accountId", name as "accountName", tasks::int, succeeded::int, credits::bigint
from (
  select account_id, count(*) as tasks, count(*) filter (where state = 'success') as succeeded,
    sum(credits_charged - credits_refunded) as credits
  from (
    select account_id, state, credits_charged, credits_refunded from tasks
    where created_at >= to_timestamp($1::float8 / 1000) order by created_at desc limit ${maxTasksRead}
  ) recent
  group by 1
) used join accounts on accounts.id = account_id
order by case $2 when 'tasks' then tasks else credits end desc, account_id limit 20`,
});

export async function readTrends(db: Database, request: Request & { readonly currency: string }) {
  const [created, ended, jobs] = await Promise.all([
    countCreatedTasks(db, request),
    readEndedTasks(db, request),
    readJobs(db, request),
  ]);
  return { created, ended, jobs };
}
