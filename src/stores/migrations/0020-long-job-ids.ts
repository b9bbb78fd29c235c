import type { OnlineChange } from '../online-changes.ts';

/** Nothing that a transaction does. */
export async function up(): Promise<void> {}

/** Ids of up to 4 kB do not fit into a B-tree, so the look-up by id uses a hash index. */
export const onlineChanges: readonly OnlineChange[] = [
  { dropped: 'provider_jobs_by_job' },
  { index: 'provider_jobs_by_id', on: 'provider_jobs using hash (job_id) where job_id is not null' },
];
