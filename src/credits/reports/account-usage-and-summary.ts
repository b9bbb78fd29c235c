import { entryIdUpperBoundSql, entryIdLowerBoundSql, refundKinds } from '../ledger/ledger-entries-and-book-credits.ts';
import { literalListSql } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, one } from '../../platform/database/declare-statements.ts';

// Sums for an account. Each statement reads a bounded time with the indexes of the account's tasks, and of entries other than charges.

/** A day in UTC, a model and one of its prices. Grants and adjustments have neither model nor price. */
export type UsageByDayAndPrice = {
  readonly day: string;
  readonly model: string | undefined;
  readonly priceName: string | undefined;
  readonly charged: number;
  readonly refunded: number;
  /** Grants and adjustments, signed. */
  readonly granted: number;
  readonly tasks: number;
};

type Days = { readonly accountId: string; readonly fromMs: number; readonly toMs: number };

// A charge is booked in the statement that creates its task, so both are of one time.
const otherEntries = (kinds: string) => `
  from ledger_entries
  where account_id = $1 and kind ${kinds} and id > ${entryIdLowerBoundSql('$1', '$2::float8')} and id < ${entryIdUpperBoundSql('$1', '$3::float8')}
    and created_at >= to_timestamp($2 / 1000) and created_at < to_timestamp($3 / 1000)`;

/** Charges count on the day of the create, refunds on the day of the task's end. Days without entries are left out. */
export const listUsageByDayAndPrice = many<UsageByDayAndPrice, [days: Days]>({
  name: 'list-usage-days',
  plannedAnew: true,
  text: `
select to_char(day, 'YYYY-MM-DD') as day, model, price_name as "priceName", sum(charged)::bigint as charged,
  sum(refunded)::bigint as refunded, sum(granted)::bigint as granted, sum(tasks)::int as tasks
from (
  select date_trunc('day', created_at at time zone 'UTC') as day, model, price_name, sum(credits_charged) as charged, 0 as refunded,
    0 as granted, count(*) as tasks
  from tasks
  where account_id = $1 and created_at >= to_timestamp($2::float8 / 1000) and created_at < to_timestamp($3::float8 / 1000)
  group by 1, 2, 3
  union all
  select date_trunc('day', refund.created_at at time zone 'UTC'), refunded.model, refunded.price_name, 0, amount, 0, 0
  from (select * ${otherEntries(`in ${literalListSql(refundKinds)}`)}) refund join tasks refunded on refunded.id = refund.task_id
  union all
  select date_trunc('day', created_at at time zone 'UTC'), null, null, 0, 0, amount, 0
  ${otherEntries(`in ('grant', 'adjustment')`)}
) booked
group by 1, 2, 3 order by 1, 2 nulls last, 3`,
  values: ({ accountId, fromMs, toMs }) => [accountId, fromMs, toMs],
});

export type KeyUse = { readonly keyId: string; readonly tasks: number; readonly credits: number };

/** Bounds the read to the account's newest tasks. */
export const maxTasksOfKeyUses = 50_000;

/** The use of each key that has made a task in the last 30 days; `credits` are charges less refunds. */
export const listKeyUses = many<KeyUse, [accountId: string]>({
  name: 'list-key-uses',
  text: `
select key_id as "keyId", count(*)::int as tasks, sum(credits_charged - credits_refunded)::bigint as credits
from (
  select key_id, credits_charged, credits_refunded from tasks
  where account_id = $1 and created_at > now() - interval '30 days'
  order by created_at desc, id desc limit ${maxTasksOfKeyUses}
) recent
where key_id is not null group by key_id`,
});

export const maxSummaryTasksCounted = 10_000;

const counted = (state: string, since = '') =>
  `(select count(*)::int from (select from tasks where account_id = $1 and state = '${state}' ${since} limit ${maxSummaryTasksCounted}) t)`;
const lastWeek = `and created_at > now() - interval '7 days'`;

type Figure = 'balance' | 'waiting' | 'queuing' | 'generating' | 'success' | 'fail' | 'violations';
export type AccountSummary = Readonly<Record<Figure, number>> &
  Readonly<Record<'hasKey' | 'hasTask' | 'hasCallback', boolean>> & {
    /** When the ledger was last audited; undefined for never. */
    readonly auditedAt: number | undefined;
  };

/** `success` and `fail` count the last seven days. */
export const summarizeAccount = one<AccountSummary, [accountId: string]>({
  name: 'summarize-account',
  text: `
select balance, ${counted('waiting')} as waiting, ${counted('queuing')} as queuing, ${counted('generating')} as generating,
  ${counted('success', lastWeek)} as success, ${counted('fail', lastWeek)} as fail,
  exists (select from api_keys where account_id = $1) as "hasKey",
  exists (select from tasks where account_id = $1) as "hasTask",
  exists (select from callback_deliveries where account_id = $1 and event is null) as "hasCallback",
  (select audited_at from maintenance) as "auditedAt",
  (select count(*)::int from ledger_violations where account_id = $1) as violations
from accounts where id = $1`,
});
