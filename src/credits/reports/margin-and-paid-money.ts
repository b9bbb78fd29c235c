import type { StatementSum } from './account-statement.ts';
import { entrySectionSql } from './ledger-sections.ts';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { many } from '../../platform/database/declare-statements.ts';

// A job without a pool ran on our own machine, or before costs were recorded.
export const readMargin = many<MarginRow, [query: MarginQuery]>({
  name: 'read-margin',
  plannedAnew: true,
  text: `
with task as (
  select id, model, price_name, credits_charged, credits_refunded,
    (select provider from provider_jobs j where j.task_id = tasks.id and intended_at is not null
      order by ordinal desc limit 1) as deciding
  from tasks
  where completed_at >= to_timestamp($1::float8 / 1000) and completed_at < to_timestamp($2::float8 / 1000)
    and ($4::text is null or model = $4)
), cost as (
  select j.task_id, j.provider, count(*) as jobs,
    count(*) filter (where pool is not null and cost_basis is distinct from 'reported' and cost_basis is distinct from 'estimated'
      and outcome is distinct from 'not_created' and outcome is distinct from 'refused') as unknown_jobs,
    count(*) filter (where cost_currency <> $3) as foreign_jobs,
    sum(cost_micros) filter (where cost_currency = $3) as micros
  from provider_jobs j join task on task.id = j.task_id where intended_at is not null
  group by 1, 2
)
select task.model, task.price_name as "priceName", coalesce(cost.provider, 'none') as provider, count(*)::int as tasks,
  coalesce(sum(jobs), 0)::int as jobs,
  coalesce(sum(credits_charged) filter (where deciding is not distinct from cost.provider), 0)::bigint as "creditsCharged",
  coalesce(sum(credits_refunded) filter (where deciding is not distinct from cost.provider), 0)::bigint as "creditsRefunded",
  coalesce(sum(unknown_jobs), 0)::int as "unknownJobs", coalesce(sum(foreign_jobs), 0)::int as "foreignJobs",
  coalesce(sum(micros), 0)::bigint as "costMicros"
from task left join cost on cost.task_id = task.id
where $5::text is null or coalesce(cost.provider, 'none') = $5
group by 1, 2, 3 order by 1, 2, 3`,
  values: ({ fromMs, toMs, currency, model, provider }) => [fromMs, toMs, currency, model, provider],
});

/** Revenue and cost of the tasks that ended in a period, for one price of a model at one provider. */
export type MarginRow = {
  readonly model: string;
  readonly priceName: string;
  /** `none` for tasks without a provider. */
  readonly provider: string;
  /** Tasks with a job at the provider. A task that tried two providers counts at both. */
  readonly tasks: number;
  readonly jobs: number;
  /** Sums of the tasks whose last job was at the provider. */
  readonly creditsCharged: number;
  readonly creditsRefunded: number;
  /** The known costs, in micro-units of the requested currency. */
  readonly costMicros: number;
  readonly unknownJobs: number;
  /** Jobs whose cost is in another currency. */
  readonly foreignJobs: number;
};

/** A quarter. */
export const maxMarginMs = 92 * dayMs;

export type MarginQuery = {
  /** Unix milliseconds, from (inclusive) and to (exclusive), of the ends of the tasks. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly currency: string;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
};

/** Credits that accounts gained or lost in a period, except through tasks. */
export const readCreditsOutsideTasks = many<StatementSum, [period: Pick<MarginQuery, 'fromMs' | 'toMs'>]>({
  name: 'read-booked-credits',
  plannedAnew: true,
  text: `
select ${entrySectionSql} as section, count(*)::int as entries, sum(amount)::bigint as credits from ledger_entries
where task_id is null and kind not in ('charge', 'refund') and created_at >= to_timestamp($1::float8 / 1000) and created_at < to_timestamp($2::float8 / 1000)
group by 1 order by 1`,
  values: ({ fromMs, toMs }) => [fromMs, toMs],
});

/** Money that customers paid in a period, in the smallest unit of the currency, and the part that was returned in it. */
export type PaidAndReturnedMoney = {
  readonly currency: string;
  /** Payments in the provider's test mode move no money. */
  readonly isTest: boolean;
  readonly topUps: number;
  readonly minorUnits: number;
  readonly returnedMinorUnits: number;
};

export const readPaidAndReturnedMoney = many<PaidAndReturnedMoney, [period: Pick<MarginQuery, 'fromMs' | 'toMs'>]>({
  name: 'read-paid-money',
  plannedAnew: true,
  text: `
select currency, is_test as "isTest", count(*) filter (where paid > 0)::int as "topUps", sum(paid)::bigint as "minorUnits",
  sum(returned)::bigint as "returnedMinorUnits"
from (
  select currency, is_test, minor_units as paid, 0 as returned from top_ups
  where paid_at >= to_timestamp($1::float8 / 1000) and paid_at < to_timestamp($2::float8 / 1000)
  union all
  select currency, is_test, 0, r.minor_units from top_up_reversals r join top_ups on top_ups.id = top_up_id
  where is_taken and r.created_at >= to_timestamp($1::float8 / 1000) and r.created_at < to_timestamp($2::float8 / 1000)
) moved
group by 1, 2 order by 1, 2`,
  values: ({ fromMs, toMs }) => [fromMs, toMs],
});
