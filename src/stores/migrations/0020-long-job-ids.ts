import type { OnlineChange } from '../online-changes.ts';

/** Nothing that a transaction does. */
export async function up(): Promise<void> {}

/** Ids of up to 4 kB do not fit into an index, their beginnings do. */
export const onlineChanges: readonly OnlineChange[] = [
  { dropped: 'provider_jobs_by_job' },
  { index: 'provider_jobs_by_id', on: 'provider_jobs (provider, left(job_id, 1000)) where job_id is not null' },
];
