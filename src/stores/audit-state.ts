import type { Database } from './database.ts';

/** What the audit of every minute knows: violations not yet put right, and when it last looked (Unix ms, 0 for never). */
export type AuditState = { readonly violations: number; readonly auditedAt: number };

const selectState = {
  name: 'read-audit-state',
  text: `select (select count(*) from ledger_violations) as violations, audited_at from ledger_audit_progress`,
};

export async function readAuditState(db: Database): Promise<AuditState> {
  const [state] = await db.run<{ violations: number; audited_at: number | null }>(selectState);
  return { violations: state?.violations ?? 0, auditedAt: state?.audited_at ?? 0 };
}
