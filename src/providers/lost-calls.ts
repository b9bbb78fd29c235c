import type { Database } from '../platform/database/database.ts';
import { takesSlot } from './provider-pools.ts';

// These queries help to match an upstream job to a create whose response was lost.

/** An index has no room for a whole id. */
const indexedLength = 1000;

const selectClaimed = {
  name: 'list-claimed-jobs',
  text: `
select job_id as "jobId" from provider_jobs
where provider = $1 and left(job_id, ${indexedLength}) = any($2::text[]) and job_id = any($3::text[])`,
};

/** Returns those upstream ids that belong to jobs of ours. */
export async function listClaimedJobs(
  db: Database,
  provider: string,
  jobIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.run<{ jobId: string }>(selectClaimed, [
    provider,
    jobIds.map((id) => id.slice(0, indexedLength)),
    jobIds,
  ]);
  return new Set(rows.map(({ jobId }) => jobId));
}

const countUnanswered = {
  name: 'count-rival-calls',
  text: `
select count(*)::int as calls from provider_jobs
where pool = $1 and (task_id, ordinal) <> ($2, $3) and job_id is null and ${takesSlot}
  and abs(extract(epoch from intended_at - to_timestamp($4::float8 / 1000))) < 600`,
};

/** Counts other creates at the pool without a response, intended within ten minutes of this one. */
export async function countRivals(
  db: Database,
  { pool, taskId, ordinal, intendedAt }: { pool: string; taskId: string; ordinal: number; intendedAt: number },
): Promise<number> {
  const [row] = await db.run<{ calls: number }>(countUnanswered, [pool, taskId, ordinal, intendedAt]);
  return row?.calls ?? 0;
}
