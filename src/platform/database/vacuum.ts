import { maybeOne, none, one } from './statement.ts';

export type Maintenance = {
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

export const readMaintenance = one<Maintenance>({
  name: 'read-maintenance',
  text: `
select (select count(*) from ledger_violations) as violations, coalesce(audited_at, 'epoch') as "auditedAt",
  coalesce(fully_audited_at, 'epoch') as "fullyAuditedAt", coalesce(reconciled_at, 'epoch') as "reconciledAt",
  (select count(*) from ungranted_payments) as "ungrantedPayments",
  coalesce(payments_reconciled_at, 'epoch') as "paymentsReconciledAt"
from maintenance`,
});

export const markReconciled = none({ name: 'mark-reconciled', text: 'update maintenance set reconciled_at = now()' });

export const markPaymentsReconciled = none({
  name: 'mark-payments-reconciled',
  text: 'update maintenance set payments_reconciled_at = now()',
});

// The positions of loops over many rows whose run ended early.

export const readCursor = maybeOne<{ readonly row: unknown }, [name: string]>({
  name: 'read-cursor',
  text: 'select after_row as row from sweep_cursors where name = $1',
});

export const saveCursor = none<[name: string, row: string]>({
  name: 'save-cursor',
  text: `
insert into sweep_cursors (name, after_row) values ($1, $2) on conflict (name) do update set after_row = excluded.after_row`,
});

export const deleteCursor = none<[name: string]>({
  name: 'delete-cursor',
  text: 'delete from sweep_cursors where name = $1',
});
