import type { Catalogue } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { Database } from '../../platform/database/database.ts';
import { countTasksWithFailingWorkflow } from '../../tasks/list/unfinished-and-stuck-tasks.ts';
import { countUnfinishedTasks, readCallbackBacklog } from '../../library/operations/overview-counts.ts';
import { readLastChecksAndFindings } from '../../credits/last-checks-and-findings.ts';
import { readProviderStatuses } from '../../tasks/jobs/list-providers-with-pools.ts';
import type { SnapshotSources } from './export-scraped-gauges.ts';

/**
 * Reads the state of the whole installation from the database; every API returns the same. Payments are a source only where credits are
 * sold, because an alert about missing reconciliation would fire everywhere else.
 */
export function installationSources(
  db: Database,
  catalogue: () => Catalogue,
  { sellsCredits }: { readonly sellsCredits: boolean } = { sellsCredits: false },
): SnapshotSources {
  return {
    maintenance: () => readLastChecksAndFindings(db),
    ...(sellsCredits && {
      payments: async () => ({ reconciledAt: (await readLastChecksAndFindings(db)).paymentsReconciledAt }),
    }),
    stuck: () => countTasksWithFailingWorkflow(db),
    queues: async () => ({ counts: await countUnfinishedTasks(db), models: catalogue().models }),
    callbacks: () => readCallbackBacklog(db),
    providers: () => readProviderStatuses(db, catalogue()),
  };
}
