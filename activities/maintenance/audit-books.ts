import { Context } from '@temporalio/activity';
import type { AuditKind } from '../../src/credits/ledger/ledger-audit.ts';
import { runAudit } from '../../src/credits/ledger/ledger-audit.ts';
import type { Logger } from 'pino';
import type { TaskEvents } from '../../src/tasks/task-metric-events.ts';
import type { Database } from '../../src/platform/database/database.ts';

export type AuditBooksDeps = { readonly db: Database; readonly log: Logger; readonly events: TaskEvents };

/** Logs each violation that the audit has found as an error, and counts it. */
export function createAuditBooks({ db, log, events }: AuditBooksDeps) {
  return async (kind: AuditKind): Promise<{ violations: number }> => {
    const violations = await runAudit(db, kind, () => Context.current().heartbeat());
    for (const violation of violations) {
      log.error(violation, 'ledger violation found');
      events.emit({ kind: 'reconcile_finding', finding: 'ledger_violation' });
    }
    return { violations: violations.length };
  };
}
