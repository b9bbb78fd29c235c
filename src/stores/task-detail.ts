import type { Database } from './database.ts';
import { type Delivery, type DeliveryAttempt, findDelivery, listDeliveryAttempts } from './deliveries.ts';
import { type LedgerEntry, listTaskEntries } from './ledger.ts';
import { listProviderJobs, type ProviderJob } from './provider-jobs.ts';

/** What an operator may know of a task beside its record. */
export type TaskDetail = {
  readonly ledger: readonly LedgerEntry[];
  readonly providerJobs: readonly ProviderJob[];
  readonly delivery: Delivery | undefined;
  readonly attempts: readonly DeliveryAttempt[];
};

export async function readTaskDetail(db: Database, taskId: string): Promise<TaskDetail> {
  return {
    ledger: await listTaskEntries(db, taskId),
    providerJobs: await listProviderJobs(db, taskId),
    delivery: await findDelivery(db, taskId),
    attempts: await listDeliveryAttempts(db, taskId),
  };
}
