import { Context } from '@temporalio/activity';
import { type AuditKind, runAndRecordAudit } from '../../src/credits/ledger/ledger-audit.ts';
import type { RowProcessingDeps } from './process-rows-from-cursor.ts';

/** Logs each violation that the audit has found as an error, and counts it. */
export function createAuditBooksActivity({ db, log, events }: RowProcessingDeps) {
  return async (kind: AuditKind): Promise<{ violations: number }> => {
    const violations = await runAndRecordAudit(db, kind, () => Context.current().heartbeat());
    for (const violation of violations) {
      log.error(violation, 'ledger violation found');
      events.emit({ kind: 'reconcile_finding', finding: 'ledger_violation' });
    }
    return { violations: violations.length };
  };
}
