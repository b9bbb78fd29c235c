import { proxyActivities } from '@temporalio/workflow';
import type { MainActivities } from '../activities/index.ts';
import type { AuditKind } from '../src/temporal/maintenance.ts';

/** The audit starts again from its beginning after a failure, such as an outage of the database. */
const { auditBooks } = proxyActivities<MainActivities>({
  heartbeatTimeout: '1m',
  startToCloseTimeout: '12h',
  retry: { initialInterval: '10s', maximumInterval: '5m' },
});

/** Checks the ledger: hourly what is recent, nightly everything. */
export async function audit(kind: AuditKind): Promise<{ violations: number }> {
  return await auditBooks(kind);
}
