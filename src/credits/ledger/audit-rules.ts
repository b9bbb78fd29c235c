import type { Database } from '../../platform/database/database.ts';
import { literalListSql } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many } from '../../platform/database/declare-statements.ts';
import { refundKinds } from './ledger-entries-and-book-credits.ts';
import { taskPriceSql } from '../prices/task-price-sql-and-quote.ts';
import { checkCaps, checkCodes } from './audit-redemption-codes-and-caps.ts';
import { secondsTolerance } from '../../catalogue/prices/counted-seconds.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

/** The invariants of the ledger. The first two mean that the balance is the sum of the entries, at every entry. */
export const ledgerRules = [
  'balance_is_that_of_last_entry',
  'balance_after_is_running_sum',
  'only_reversals_overdraw',
  'unfinished_count_is_true',
  'entry_belongs_to_its_task',
  'entry_belongs_to_its_top_up',
  'paid_top_up_is_granted',
  'top_up_is_reversed_in_proportion',
  'task_has_its_charge',
  'failed_task_is_refunded_in_full',
  'only_failed_tasks_are_refunded',
  'partial_refund_is_price_difference',
  'code_is_granted_once',
  'cap_counts_what_was_spent',
  'caps_are_enforced',
  'books_are_guarded',
] as const;
export type LedgerRule = (typeof ledgerRules)[number];

export type LedgerViolation = {
  readonly rule: LedgerRule;
  readonly accountId: string | undefined;
  readonly entryId: number | undefined;
  readonly taskId: string | undefined;
  readonly detail: string;
};

export type IdsToAudit = {
  readonly accounts?: readonly string[];
  readonly entries?: readonly number[];
  readonly tasks?: readonly string[];
  /** Accounts whose caps are compared with their tasks, which may be many. */
  readonly capped?: readonly string[];
};

const noEntry = 'null::bigint as "entryId"';

// Each rule explains a violation in `detail`, which is null when the rule holds.
const accountRules = many<LedgerViolation, [accounts: readonly string[]]>({
  name: 'check-accounts',
  text: `
with checked as (
  select a.id, a.balance, a.unfinished_tasks, coalesce(last.balance_after, 0) as booked, coalesce(live.tasks, 0) as live, top_up.*
  from accounts a
  left join lateral (
    select balance_after from ledger_entries where account_id = a.id order by id desc limit 1
  ) last on true
  left join (
    select account_id, count(*) as tasks from tasks
    where ${unfinishedTaskSql} and account_id = any($1::uuid[]) group by account_id
  ) live on live.account_id = a.id
  left join lateral (
    select min(id::text) filter (where not is_granted) as ungranted, min(id::text) filter (where reversed <> due) as unequal
    from (
      select id, exists (select from ledger_entries where top_up_id = top_ups.id and kind = 'grant') as is_granted,
        (select coalesce(-sum(amount), 0) from ledger_entries where top_up_id = top_ups.id and kind = 'adjustment') as reversed,
        (select floor(credits * coalesce(sum(r.minor_units), 0) / top_ups.minor_units) from top_up_reversals r
          where top_up_id = top_ups.id and is_taken) as due
      from top_ups where account_id = a.id and state = 'paid'
    ) paid
  ) top_up on true
  where a.id = any($1::uuid[])
)
select rule, id as "accountId", ${noEntry}, null::uuid as "taskId", detail from checked cross join lateral (values
  ('balance_is_that_of_last_entry', case when balance <> booked then format('balance %s, last entry %s', balance, booked) end),
  ('paid_top_up_is_granted', case when ungranted is not null then format('top-up %s has no grant', ungranted) end),
  ('top_up_is_reversed_in_proportion', case when unequal is not null then format('top-up %s', unequal) end),
  ('unfinished_count_is_true',
    case when unfinished_tasks <> live then format('the account has %s, %s tasks are unfinished', unfinished_tasks, live) end)
) rules (rule, detail) where detail is not null`,
});

const entryRules = many<LedgerViolation, [entries: readonly number[]]>({
  name: 'check-entries',
  text: `
with checked as (
  select e.*, coalesce(previous.balance_after, 0) as before, t.account_id as owner, u.account_id as buyer, u.credits as bought,
    u.state = 'paid' as is_paid
  from ledger_entries e
  left join lateral (
    select p.balance_after from ledger_entries p where p.account_id = e.account_id and p.id < e.id order by p.id desc limit 1
  ) previous on true
  left join tasks t on t.id = e.task_id
  left join top_ups u on u.id = e.top_up_id
  where e.id = any($1::bigint[])
)
select rule, account_id as "accountId", id as "entryId", task_id as "taskId", detail from checked cross join lateral (values
  ('balance_after_is_running_sum', case when balance_after <> before + amount
    then format('%s %s on %s gives %s', kind, amount, before, balance_after) end),
  ('only_reversals_overdraw', case when balance_after < 0 and amount < 0 and not (kind = 'adjustment' and top_up_id is not null)
    then format('%s %s gives %s', kind, amount, balance_after) end),
  ('entry_belongs_to_its_top_up', case when top_up_id is not null
      and (buyer is distinct from account_id or not is_paid or (kind = 'grant' and amount <> bought))
    then format('%s %s, top-up of account %s of %s credits', kind, amount, buyer, bought) end),
  ('entry_belongs_to_its_task', case when case
      when kind in ${literalListSql(['charge', ...refundKinds])} then owner is distinct from account_id or (kind = 'charge') <> (amount < 0)
      else task_id is not null or amount = 0 or (kind = 'grant' and amount < 0) end
    then format('%s %s, task of account %s', kind, amount, owner) end)
) rules (rule, detail) where detail is not null`,
});

// The rule of src/tasks/end/shortfall-terms-and-decision.ts in SQL, for a task whose model refunds differences: the price of the video's whole seconds, at most
// those of the order, and without sound if the video has none.
const deliveredPrice = `(
    select seconds * credits_per_second + credits_per_video as credits
    from (
      select least((param->'input'->>'duration')::integer, floor((result->>'durationSeconds')::float8 + ${secondsTolerance})::integer) as seconds,
        case when (param->'input'->>'generateAudio')::boolean and not (result->>'hasAudio')::boolean
          then shortfall->'silentPrices' else shortfall->'prices' end as listed
    ) delivered cross join lateral ${taskPriceSql({
      model: 't.model',
      accountId: 't.account_id',
      listed: 'delivered.listed',
      at: 't.created_at',
    })} price
    where t.state = 'success' and t.shortfall->>'policy' = 'refund'
  )`;

const taskRules = many<LedgerViolation, [tasks: readonly string[]]>({
  name: 'check-tasks',
  text: `
with checked as (
  select t.id, t.account_id, t.state, t.credits_charged, t.credits_refunded, ${deliveredPrice} as delivered_price, e.*
  from tasks t left join lateral (
    select count(*) filter (where kind = 'charge') as charges,
      coalesce(sum(amount) filter (where kind = 'charge' and account_id = t.account_id), 0) as charged,
      count(*) filter (where kind = 'refund') as refunds,
      coalesce(sum(amount) filter (where kind = 'refund' and account_id = t.account_id), 0) as refunded,
      count(*) filter (where kind = 'partial_refund') as partials,
      coalesce(sum(amount) filter (where kind = 'partial_refund' and account_id = t.account_id), 0) as partially_refunded
    from ledger_entries where task_id = t.id
  ) e on true
  where t.id = any($1::uuid[])
)
select rule, account_id as "accountId", ${noEntry}, id as "taskId", detail from checked cross join lateral (values
  ('task_has_its_charge', case when charges <> 1 or charged <> -credits_charged
    then format('charged %s, sum of %s charges %s', credits_charged, charges, charged) end),
  ('failed_task_is_refunded_in_full', case
    when state = 'fail' and (refunds <> 1 or refunded <> credits_charged or credits_refunded <> credits_charged)
    then format('charged %s, refunded %s, sum of %s refunds %s', credits_charged, credits_refunded, refunds, refunded) end),
  ('only_failed_tasks_are_refunded', case when state <> 'fail' and (refunds > 0 or (state <> 'success' and credits_refunded <> 0))
    then format('state %s, refunded %s, sum of %s refunds %s', state, credits_refunded, refunds, refunded) end),
  ('partial_refund_is_price_difference', case
    when partials <> (state = 'success' and credits_refunded <> 0)::integer
        or partially_refunded <> case state when 'success' then credits_refunded else 0 end
      then format('state %s, refunded %s, sum of %s partial refunds %s', state, credits_refunded, partials, partially_refunded)
    when credits_charged - credits_refunded <> delivered_price or (credits_refunded > 0 and state = 'success' and delivered_price is null)
      then format('charged %s, refunded %s, price of the video %s', credits_charged, credits_refunded, delivered_price) end)
) rules (rule, detail) where detail is not null`,
});

/** Triggers, constraints and indexes of the ledger and of the audit log, which shows who granted credits. */
const guards = [
  'final_tasks_never_change',
  'tasks_are_never_deleted',
  'ledger_is_append_only',
  'operator_actions_are_append_only',
  'accounts_balance_check',
  'accounts_unfinished_tasks_check',
  'only_reversals_overdraw',
  'top_up_fits_kind',
  'one_charge_one_refund',
  'sign_fits_kind',
  'task_fits_kind',
  'failed_is_refunded',
  'ledger_by_idempotency_key',
];

export const checkGuards = many<LedgerViolation>({
  name: 'check-guards',
  text: `
select 'books_are_guarded' as rule, null::uuid as "accountId", ${noEntry}, null::uuid as "taskId",
  format('%s is missing or disabled', guard) as detail
from unnest($1::text[]) guard
where not exists (
  select from pg_trigger where tgname = guard and tgenabled in ('O', 'A')
    and tgrelid in ('tasks'::regclass, 'ledger_entries'::regclass, 'operator_actions'::regclass)
  union all
  select from pg_constraint where conname = guard and convalidated
    and conrelid in ('accounts'::regclass, 'tasks'::regclass, 'ledger_entries'::regclass)
  union all
  select from pg_index join pg_class on pg_class.oid = indexrelid
  where relname = guard and indisunique and indisvalid and indrelid = 'ledger_entries'::regclass
)`,
  values: () => [guards],
});

/** Returns the violations by these accounts, entries and tasks. Callers pass at most 2,000 ids per list. */
export async function findLedgerViolationsByIds(
  db: Database,
  { accounts = [], entries = [], tasks = [], capped = [] }: IdsToAudit,
): Promise<readonly LedgerViolation[]> {
  return [
    ...(accounts.length === 0 ? [] : [...(await accountRules(db, accounts)), ...(await checkCodes(db, accounts))]),
    ...(capped.length === 0 ? [] : await checkCaps(db, capped)),
    ...(entries.length === 0 ? [] : await entryRules(db, entries)),
    ...(tasks.length === 0 ? [] : await taskRules(db, tasks)),
  ];
}
