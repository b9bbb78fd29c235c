import { proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';
import type { AuditKind } from '../src/credits/ledger/ledger-audit.ts';

/** The audit starts again from its beginning after a failure, such as an outage of the database. */
const { auditBooks } = proxyActivities<MainActivities>({
  heartbeatTimeout: '1m',
  startToCloseTimeout: '12h',
  retry: { initialInterval: '10s', maximumInterval: '5m' },
});

/** Audits the ledger: recent changes every hour, and everything once a day. */
export async function audit(kind: AuditKind): Promise<{ violations: number }> {
  return await auditBooks(kind);
}
