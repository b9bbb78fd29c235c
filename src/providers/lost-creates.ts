import type { Database } from '../platform/database/database.ts';
import { many, one } from '../platform/database/statement.ts';
import { takesSlot } from './provider-pools.ts';

// These queries help to match an upstream job to a create whose response was lost.

/** An index has no room for a whole id. */
const indexedLength = 1000;

const selectClaimed = many<{ readonly jobId: string }, [provider: string, jobIds: readonly string[]]>({
  name: 'list-claimed-jobs',
  text: `
select job_id as "jobId" from provider_jobs
where provider = $1 and left(job_id, ${indexedLength}) = any($2::text[]) and job_id = any($3::text[])`,
  values: (provider, jobIds) => [provider, jobIds.map((id) => id.slice(0, indexedLength)), jobIds],
});

/** Returns those upstream ids that belong to jobs of ours. */
export async function listClaimedJobs(
  db: Database,
  provider: string,
  jobIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await selectClaimed(db, provider, jobIds)).map(({ jobId }) => jobId));
}

type OpenCreate = {
  readonly pool: string;
  readonly taskId: string;
  readonly ordinal: number;
  readonly intendedAt: number;
};

/** Counts other creates at the pool without a response, intended within ten minutes of this one. */
export const countRivals = one<{ readonly rivals: number }, [create: OpenCreate]>({
  name: 'count-rival-calls',
  text: `
select count(*)::int as rivals from provider_jobs
where pool = $1 and (task_id, ordinal) <> ($2, $3) and job_id is null and ${takesSlot}
  and abs(extract(epoch from intended_at - to_timestamp($4::float8 / 1000))) < 600`,
  values: ({ pool, taskId, ordinal, intendedAt }) => [pool, taskId, ordinal, intendedAt],
});
