import type { Database } from './database.ts';

export type ProviderJobOutcome = 'success' | 'fail' | 'not_created' | 'abandoned' | 'late_success';

/** One call for a job upstream. Without `jobId` the call's answer is unknown: it may or may not have made a job. */
export type ProviderJob = {
  readonly ordinal: number;
  readonly provider: string;
  readonly jobId: string | undefined;
  readonly outcome: ProviderJobOutcome | undefined;
};

const selectJobs = {
  name: 'list-provider-jobs',
  text: `select ordinal, provider, job_id, outcome from provider_jobs where task_id = $1 order by ordinal`,
};

/** Every job of a task, oldest first; a task has no more than a handful. */
export async function listProviderJobs(db: Database, taskId: string): Promise<readonly ProviderJob[]> {
  type Row = { ordinal: number; provider: string; job_id: string | null; outcome: ProviderJobOutcome | null };
  const rows = await db.run<Row>(selectJobs, [taskId]);
  return rows.map((row) => ({
    ordinal: row.ordinal,
    provider: row.provider,
    jobId: row.job_id ?? undefined,
    outcome: row.outcome ?? undefined,
  }));
}

const insertIntent = {
  name: 'intend-provider-job',
  text: `insert into provider_jobs (task_id, ordinal, provider) values ($1, $2, $3) on conflict do nothing returning ordinal`,
};

/**
 * Commits the intent to ask a provider for a job. Answers false when this ordinal is taken: another attempt of the same
 * task is ahead, and asking as well could pay for a second job.
 */
export async function intendProviderJob(
  db: Database,
  { taskId, ordinal, provider }: { taskId: string; ordinal: number; provider: string },
): Promise<boolean> {
  return (await db.run(insertIntent, [taskId, ordinal, provider])).length > 0;
}

const recordSubmitted = {
  name: 'record-provider-job',
  text: `update provider_jobs set job_id = $3, submitted_at = now() where task_id = $1 and ordinal = $2`,
};

/** Commits the id of the job that the provider made. */
export async function recordProviderJob(
  db: Database,
  { taskId, ordinal, jobId }: { taskId: string; ordinal: number; jobId: string },
): Promise<void> {
  await db.run(recordSubmitted, [taskId, ordinal, jobId]);
}

const recordEnded = {
  name: 'end-provider-job',
  text: `
update provider_jobs set outcome = $3, ended_at = now()
where task_id = $1 and ordinal = $2 and (outcome is null or $3 = 'late_success')`,
};

/** Commits how a job ended; the first outcome stays, but a success that came late is always recorded. */
export async function endProviderJob(
  db: Database,
  { taskId, ordinal, outcome }: { taskId: string; ordinal: number; outcome: ProviderJobOutcome },
): Promise<void> {
  await db.run(recordEnded, [taskId, ordinal, outcome]);
}
