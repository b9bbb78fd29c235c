import type { Database } from '../../platform/database/database.ts';
import { listTaskEntries } from '../../credits/ledger/ledger-entries-and-book-credits.ts';
import { findDelivery, listDeliveryAttempts } from '../callbacks/deliveries.ts';
import { listProviderJobs } from '../jobs/provider-jobs.ts';

/** Reads the ledger entries, upstream jobs and callback of a task, which are not part of its record. */
export async function readRecordsOfTask(db: Database, taskId: string) {
  return {
    ledger: await listTaskEntries(db, taskId),
    providerJobs: await listProviderJobs(db, taskId),
    delivery: await findDelivery(db, taskId),
    attempts: await listDeliveryAttempts(db, taskId),
  };
}
