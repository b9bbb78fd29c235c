import type { Database } from './database.ts';

/** A broken invariant of the design's section 4: which rule, on which account or task, and what was found. */
export type LedgerViolation = {
  readonly rule: LedgerRule;
  readonly accountId: string;
  readonly taskId: string | undefined;
  readonly detail: string;
};

export const ledgerRules = [
  'balance_is_sum_of_entries',
  'balance_after_is_running_sum',
  'task_has_its_charge',
  'failed_task_is_refunded_in_full',
  'only_failed_tasks_are_refunded',
  'unfinished_count_is_true',
] as const;
export type LedgerRule = (typeof ledgerRules)[number];

/** Violations answered at most; one is already an alarm. */
const maxViolations = 1000;

/**
 * Proves the books over the whole database, in one snapshot, and answers every violation (at most 1,000). Reads every
 * account, task and entry once.
 */
export async function auditLedger(db: Database): Promise<readonly LedgerViolation[]> {
  type Row = { rule: LedgerRule; account_id: string; task_id: string | null; detail: string };
  const rows = await db.run<Row>(audit, [maxViolations]);
  return rows.map((row) => ({
    rule: row.rule,
    accountId: row.account_id,
    taskId: row.task_id ?? undefined,
    detail: row.detail,
  }));
}

const audit = {
  name: 'audit-ledger',
  text: `
select 'balance_is_sum_of_entries' as rule, a.id as account_id, null::uuid as task_id,
  format('balance %s, entries %s', a.balance, coalesce(sum(e.amount), 0)) as detail
from accounts a left join ledger_entries e on e.account_id = a.id
group by a.id having a.balance <> coalesce(sum(e.amount), 0)
union all
select 'balance_after_is_running_sum', account_id, task_id, format('entry %s: %s, sum %s', id, balance_after, running)
from (select *, sum(amount) over (partition by account_id order by id) as running from ledger_entries) e
where balance_after <> running
union all
select 'task_has_its_charge', t.account_id, t.id, format('task %s, entry %s', t.credits_charged, e.amount)
from tasks t left join ledger_entries e on e.task_id = t.id and e.kind = 'charge'
where e.amount is distinct from -t.credits_charged or e.account_id is distinct from t.account_id
union all
select 'failed_task_is_refunded_in_full', t.account_id, t.id, format('charged %s, refunded %s', t.credits_charged, e.amount)
from tasks t left join ledger_entries e on e.task_id = t.id and e.kind = 'refund'
where t.state = 'fail'
  and (e.amount is distinct from t.credits_charged or t.credits_refunded <> t.credits_charged or e.account_id <> t.account_id)
union all
select 'only_failed_tasks_are_refunded', e.account_id, t.id, format('state %s, refunded %s', t.state, e.amount)
from ledger_entries e join tasks t on t.id = e.task_id
where e.kind = 'refund' and t.state <> 'fail'
union all
select 'unfinished_count_is_true', a.id, null, format('account says %s, tasks say %s', a.unfinished_tasks, count(t.id))
from accounts a left join tasks t on t.account_id = a.id and t.state in ('waiting', 'queuing', 'generating')
group by a.id having a.unfinished_tasks <> count(t.id)
limit $1`,
};
