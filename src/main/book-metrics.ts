import { Gauge } from 'prom-client';
import type { Metrics } from '../metrics.ts';
import type { Database } from '../stores/database.ts';
import { readMaintenance } from '../stores/maintenance.ts';
import { countStuckTasks } from '../stores/task-list.ts';

/** The last results of audit and `reconcile`, read at each scrape; the last known ones while the database is unavailable. */
export function exportBookMetrics({ registry }: Metrics, db: Database): void {
  const registers = [registry];
  const auditedAt = new Gauge({
    name: 'videogen_ledger_audited_timestamp_seconds',
    help: 'When the last audit of the ledger that has ended began, in Unix seconds; 0 when never',
    labelNames: ['kind'] as const,
    registers,
  });
  const reconciledAt = new Gauge({
    name: 'videogen_reconciled_timestamp_seconds',
    help: 'When reconcile last went through all unfinished tasks, in Unix seconds; 0 when never',
    registers,
  });
  const violations = new Gauge({
    name: 'videogen_ledger_violations',
    help: 'Broken invariants of the books that are not put right yet; anything but 0 is an alarm',
    registers,
    collect: async () => {
      const state = await readMaintenance(db).catch(() => undefined);
      if (state === undefined) return;
      violations.set(state.violations);
      auditedAt.set({ kind: 'recent' }, state.auditedAt / 1000);
      auditedAt.set({ kind: 'full' }, state.fullyAuditedAt / 1000);
      reconciledAt.set(state.reconciledAt / 1000);
    },
  });
  const stuck = new Gauge({
    name: 'videogen_stuck_tasks',
    help: 'Unfinished tasks whose workflow code fails; roll back the release before they are refunded',
    registers,
    collect: async () => {
      const tasks = await countStuckTasks(db).catch(() => undefined);
      if (tasks !== undefined) stuck.set(tasks);
    },
  });
}
