import type { Database } from '../../platform/database/database.ts';
import { many, maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';
import { jobMayExistSql } from './job-states.ts';
import type { JobCost, JobRowKey } from './provider-jobs.ts';
import { isReservedJobSql } from './provider-pools-and-switches.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

// The intent of a create is committed before it, and the id of its job after it. An intent without an id is a create whose response was
// lost. A task that has ended gets no intent; the job of one that ends afterwards is stopped.

const taskIsUnfinished = `exists (select from tasks where id = $1 and ${unfinishedTaskSql})`;

type Intended = Pick<JobRowKey, 'ordinal'>;

/**
 * Commits the intent to create a job on our own machine, which needs no slot.
 * Returns undefined if another attempt committed it first, or the task has ended.
 */
export const intendOwnMachineJob = maybeOne<
  Intended,
  [job: JobRowKey & { readonly provider: string; readonly jobId?: string }]
>({
  name: 'intend-provider-job',
  text: `
insert into provider_jobs (task_id, ordinal, provider, job_id, intended_at) select $1::uuid, $2::int, $3::text, $4::text, now()
where ${taskIsUnfinished}
on conflict do nothing returning ordinal`,
  values: ({ taskId, ordinal, provider, jobId }) => [taskId, ordinal, provider, jobId],
});

type ReservedJob = JobRowKey & {
  readonly pool: string;
  /** SHA-256 of `config`, in hex. */
  readonly configHash: string;
  /** The settings that a worker needs to follow the job, as JSON without secrets. */
  readonly config: string;
  /** Set if the job runs within the request that creates it. */
  readonly jobId?: string | undefined;
  readonly cost?: JobCost | undefined;
};

/**
 * Commits the intent to create the job whose slot is reserved. Returns undefined if another attempt was first, the reservation has
 * expired, or the task has ended; a create then could pay for a second job.
 */
export const intendReservedJob = maybeOne<Intended, [job: ReservedJob]>({
  name: 'intend-reserved-job',
  text: `
with known as (insert into provider_configs (hash, config) values ($4, $5) on conflict do nothing)
update provider_jobs set intended_at = now(), config_hash = $4, job_id = $6,
  cost_micros = $7, cost_currency = $8, cost_basis = $9
where task_id = $1 and ordinal = $2 and pool = $3 and ${isReservedJobSql} and ${taskIsUnfinished}
returning ordinal`,
  values: ({ taskId, ordinal, pool, configHash, config, jobId, cost }) => {
    const costs = [cost?.micros, cost?.currency, cost?.basis ?? 'unknown'];
    return [taskId, ordinal, pool, configHash, config, jobId, ...costs];
  },
});

const recordSubmitted = maybeOne<{ readonly isOpen: boolean }, [job: SubmittedJob]>({
  name: 'record-provider-job',
  text: `
update provider_jobs created set job_id = $3, handle = coalesce($4::json, handle), submitted_at = coalesce(submitted_at, now()),
  sent_input = null,
  settled_at = case when outcome in ('not_created', 'abandoned') and job_id is distinct from $3 then null else settled_at end,
  outcome = case outcome when 'not_created' then 'abandoned' else outcome end
where task_id = $1 and ordinal = $2 and not ($5 and outcome = 'not_created' and exists (
  select from provider_jobs later
  where later.task_id = $1 and later.ordinal > $2 and later.provider = created.provider and later.intended_at is not null
    and (later.job_id is null or later.job_id = $3) and (later.outcome is null or later.outcome = 'success')))
returning outcome is distinct from 'abandoned' as "isOpen"`,
  values: ({ taskId, ordinal, jobId, handle, isNamed = false }) => [taskId, ordinal, jobId, handle, isNamed],
});

type SubmittedJob = JobRowKey & {
  readonly jobId: string;
  readonly handle?: object | undefined;
  /** True if our name for the job makes it the same as that of a repeated create. */
  readonly isNamed?: boolean;
};

/**
 * Commits the id and handle of the job that the provider created. `abandoned`: the job was abandoned in the meantime, while its worker was
 * frozen. It must be stopped, and `reconcile` retries that. `repeated`: the create was sent again under the same name, so the job belongs
 * to that later row and must not be stopped. An end that another attempt recorded stays.
 */
export async function recordCreatedJob(
  db: Database,
  job: SubmittedJob,
): Promise<'recorded' | 'abandoned' | 'repeated'> {
  const row = await recordSubmitted(db, job);
  if (row === undefined) return 'repeated';
  return row.isOpen ? 'recorded' : 'abandoned';
}

/** Records what an upstream responded to a create that it did not answer with a job, for operators. */
export const recordUnusableCreateResponse = noRows<[job: JobRowKey, detail: string]>({
  name: 'record-create-response',
  text: `
update provider_jobs set detail = left($3, 8192) where task_id = $1 and ordinal = $2 and job_id is null and outcome is null`,
  values: ({ taskId, ordinal }, detail) => [taskId, ordinal, detail],
});

/** Counts a run whose connection broke, and returns the number of lost runs of the job. */
export const incrementLostRuns = one<{ readonly lostRuns: number }, [job: JobRowKey]>({
  name: 'record-lost-run',
  text: `
update provider_jobs set lost_runs = lost_runs + 1 where task_id = $1 and ordinal = $2 returning lost_runs as "lostRuns"`,
  values: ({ taskId, ordinal }) => [taskId, ordinal],
});

/** A worker that was considered dead may send a create for at least this long, so a look-up that finds no job is repeated until then. */
export const lateCreateWindowMs = 60_000;

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
export async function findIdsTakenByOurJobs(
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

/**
 * Counts other creates at the pool without a response, intended since ten minutes before this one: each may have made a job after this
 * create was sent. One that was abandoned counts, too, because its job may exist and nothing else claims it.
 */
export const countOtherUnansweredCreates = one<{ readonly rivals: number }, [create: OpenCreate]>({
  name: 'count-rival-creates',
  text: `
select count(*)::int as rivals from provider_jobs
where pool = $1 and (task_id, ordinal) <> ($2, $3) and job_id is null
  and intended_at is not null and (${jobMayExistSql})
  and intended_at > to_timestamp($4::float8 / 1000) - interval '10 minutes'`,
  values: ({ pool, taskId, ordinal, intendedAt }) => [pool, taskId, ordinal, intendedAt],
});
