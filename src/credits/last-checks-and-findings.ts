import { noRows, one } from '../platform/database/declare-statements.ts';

/** When books, tasks and payments were last checked, and what is open from these checks. */
export type LastChecksAndFindings = {
  readonly violations: number;
  /** The start of the last audit that has ended, in Unix milliseconds; 0 means never. */
  readonly auditedAt: number;
  readonly fullyAuditedAt: number;
  /** When `reconcile` last finished a pass over all unfinished tasks. */
  readonly reconciledAt: number;
  readonly ungrantedPayments: number;
  /** When payments were last compared with the records of the provider. */
  readonly paymentsReconciledAt: number;
};

export const readLastChecksAndFindings = one<LastChecksAndFindings>({
  name: 'read-maintenance',
  text: `
select (select count(*) from ledger_violations) as violations, coalesce(audited_at, 'epoch') as "auditedAt",
  coalesce(fully_audited_at, 'epoch') as "fullyAuditedAt", coalesce(reconciled_at, 'epoch') as "reconciledAt",
  (select count(*) from ungranted_payments) as "ungrantedPayments",
  coalesce(payments_reconciled_at, 'epoch') as "paymentsReconciledAt"
from maintenance`,
});

export const markTasksReconciled = noRows({
  name: 'mark-reconciled',
  text: 'update maintenance set reconciled_at = now()',
});

export const markPaymentsReconciled = noRows({
  name: 'mark-payments-reconciled',
  text: 'update maintenance set payments_reconciled_at = now()',
});
