// SQL of the ledger entries that a task or an account brings with it. The statement that changes the balance writes the entry, so a
// statement elsewhere includes one of these; no other folder writes `ledger_entries`.

/** `accepted`: a table of the charged tasks, with `position`, the order in which each account is charged. */
export const chargeEntrySql = (accepted: string) => `entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
  select account_id, task_id, 'charge', -credits, balance_after from ${accepted} order by account_id, position
)`;

const refund = (kind: 'refund' | 'partial_refund', reason: string) => `entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after, reason)
  select account.id, ended.id, '${kind}', ended.credits_refunded, account.balance, ${reason}
  from ended, account where ended.credits_refunded > 0
)`;

/** Refunds the failed task `ended` to `account`, whose balance includes the refund. */
export const refundEntrySql = refund('refund', 'null');

/** Refunds a part of the charge of the successful task `ended`, if any. `reason`: the parameter with the reason. */
export const partialRefundEntrySql = (reason: string) => refund('partial_refund', reason);

/** Grants the opening balance of the new `account`, if any. */
export const openingEntrySql = `entry as (
  insert into ledger_entries (account_id, kind, amount, balance_after, reason)
  select id, 'grant', balance, balance, 'opening credits' from account where balance > 0
)`;
