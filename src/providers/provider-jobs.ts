import type { TaskFailure, TaskInput } from '../tasks/task.ts';
import type { Database } from '../platform/database/database.ts';
import { isReserved, mayRun } from './provider-pools.ts';
import { many, maybeOne, none, one } from '../platform/database/statement.ts';
import { isFinished } from '../tasks/task-states.ts';

export const jobOutcomes = ['success', 'fail', 'not_created', 'refused', 'abandoned', 'late_success'] as const;
export type ProviderJobOutcome = (typeof jobOutcomes)[number];

export const costBases = ['reported', 'estimated', 'unknown'] as const;
/** Micro-units of a currency: 1,000,000 are one dollar. */
export type JobCost = { readonly micros: number; readonly currency: string; readonly basis: 'reported' | 'estimated' };

/** The primary key of a job. */
type JobName = { readonly taskId: string; readonly ordinal: number };

/** One create at an upstream. For an intended one without `jobId` it is unknown whether a job exists. */
export type ProviderJob = {
  readonly ordinal: number;
  readonly provider: string;
  /** The provider with its model; undefined for a job on our own machine. */
  readonly pool: string | undefined;
  /** False for a reserved slot that no create was sent for. */
  readonly isIntended: boolean;
  readonly jobId: string | undefined;
  readonly handle: unknown;
  /** The input of a create whose response was lost, if the task's content was deleted since. */
  readonly sentInput: TaskInput | undefined;
  /** The provider's configuration at the time of the create. */
  readonly config: unknown;
  readonly outcome: ProviderJobOutcome | undefined;
  /** True if the upstream refused the video that it made, and one more job may be made there. */
  readonly isRepeatable: boolean;
  /** Set for the job that decided the task's end. */
  readonly failure: TaskFailure | undefined;
  /** Unix milliseconds by the database's clock, like the other times. */
  readonly intendedAt: number | undefined;
  readonly submittedAt: number | undefined;
  readonly upstreamEndedAt: number | undefined;
  /** When its outcome was recorded. */
  readonly endedAt: number | undefined;
  readonly costMicros: number | undefined;
  readonly costCurrency: string | undefined;
  readonly costBasis: (typeof costBases)[number] | undefined;
  readonly detail: string | undefined;
  /** Milliseconds since the intent was committed, or the slot reserved. */
  readonly ageMs: number;
};

/** Lists a task's jobs, oldest first. `maxJobs` of the generation bounds their number. */
export const listProviderJobs = many<ProviderJob, [taskId: string]>({
  name: 'list-provider-jobs',
  text: `
select ordinal, provider, pool, intended_at is not null as "isIntended", job_id as "jobId", handle,
  sent_input as "sentInput", config, outcome, is_repeatable as "isRepeatable",
  case when fail_code is not null then json_build_object('failCode', fail_code, 'failMsg', fail_msg) end as failure,
  intended_at as "intendedAt", submitted_at as "submittedAt", upstream_ended_at as "upstreamEndedAt",
  ended_at as "endedAt",
  cost_micros as "costMicros", cost_currency as "costCurrency", cost_basis as "costBasis", detail,
  (extract(epoch from now() - coalesce(intended_at, reserved_at)) * 1000)::bigint as "ageMs"
from provider_jobs left join provider_configs on hash = config_hash where task_id = $1 order by ordinal`,
});

const insertIntent = {
  name: 'intend-provider-job',
  text: `
insert into provider_jobs (task_id, ordinal, provider, job_id, intended_at) values ($1, $2, $3, $4, now())
on conflict do nothing returning ordinal`,
};

/** Commits the intent to create a job on our own machine, which needs no slot. Returns false if another attempt committed it first. */
export async function intendProviderJob(
  db: Database,
  { taskId, ordinal, provider, jobId }: JobName & { readonly provider: string; readonly jobId?: string },
): Promise<boolean> {
  return (await db.run(insertIntent, [taskId, ordinal, provider, jobId])).length > 0;
}

const intendReserved = {
  name: 'intend-reserved-job',
  text: `
with known as (insert into provider_configs (hash, config) values ($4, $5) on conflict do nothing)
update provider_jobs set intended_at = now(), config_hash = $4, job_id = $6,
  cost_micros = $7, cost_currency = $8, cost_basis = $9
where task_id = $1 and ordinal = $2 and pool = $3 and ${isReserved}
returning ordinal`,
};

export type ReservedJob = JobName & {
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
 * Commits the intent to create the job whose slot is reserved. Returns false if another attempt was first or the reservation has
 * expired; a create then could pay for a second job.
 */
export async function intendReservedJob(db: Database, job: ReservedJob): Promise<boolean> {
  const { taskId, ordinal, pool, configHash, config, jobId, cost } = job;
  const values = [configHash, config, jobId, cost?.micros, cost?.currency, cost?.basis ?? 'unknown'];
  return (await db.run(intendReserved, [taskId, ordinal, pool, ...values])).length > 0;
}

const recordSubmitted = {
  name: 'record-provider-job',
  text: `
update provider_jobs set job_id = $3, handle = coalesce($4::json, handle), submitted_at = coalesce(submitted_at, now()),
  sent_input = null,
  settled_at = case when outcome in ('not_created', 'abandoned') and job_id is distinct from $3 then null else settled_at end,
  outcome = case outcome when 'not_created' then 'abandoned' else outcome end
where task_id = $1 and ordinal = $2
returning outcome is distinct from 'abandoned' as "isOpen"`,
};

/**
 * Commits the id and handle of the job that the provider created. Returns false if the job was abandoned in the meantime, while its
 * worker was frozen: it must be stopped, and `reconcile` retries that. An end that another attempt recorded stays.
 */
export async function recordProviderJob(
  db: Database,
  { taskId, ordinal, jobId, handle }: JobName & { readonly jobId: string; readonly handle?: object | undefined },
): Promise<boolean> {
  const values = [taskId, ordinal, jobId, handle === undefined ? undefined : JSON.stringify(handle)];
  const [row] = await db.run<{ isOpen: boolean }>(recordSubmitted, values);
  return row?.isOpen === true;
}

/** Counts a run whose connection broke, and returns the number of lost runs of the job. */
export const recordLostRun = one<{ readonly lostRuns: number }, [job: JobName]>({
  name: 'record-lost-run',
  text: `
update provider_jobs set lost_runs = lost_runs + 1 where task_id = $1 and ordinal = $2 returning lost_runs as "lostRuns"`,
  values: ({ taskId, ordinal }) => [taskId, ordinal],
});

/** Frees the job's slot, and records its cost if the upstream reported one. The first recorded end stays. */
export const recordUpstreamEnd = none<[job: JobName & { readonly cost?: JobCost | 'unknown' | undefined }]>({
  name: 'record-upstream-end',
  text: `
update provider_jobs set upstream_ended_at = now(), cost_micros = case when $5::text is null then cost_micros else $3 end,
  cost_currency = case when $5 is null then cost_currency else $4 end, cost_basis = coalesce($5, cost_basis)
where task_id = $1 and ordinal = $2 and upstream_ended_at is null`,
  values: ({ taskId, ordinal, cost }) => {
    const { micros, currency, basis } = cost === undefined || cost === 'unknown' ? { basis: cost } : cost;
    return [taskId, ordinal, micros, currency, basis];
  },
});

/** A job whose end was recorded just now, for metrics. */
export type EndedJob = Pick<ProviderJob, 'provider' | 'pool' | 'costMicros' | 'costCurrency' | 'costBasis'> & {
  readonly outcome: ProviderJobOutcome;
  /** From the acceptance of the job to its end; undefined if no job was created. */
  readonly runMs: number | undefined;
};

const endedColumns = `provider, pool, outcome, cost_micros as "costMicros", cost_currency as "costCurrency", cost_basis as "costBasis",
  case when job_id is not null then
    (extract(epoch from coalesce(upstream_ended_at, now()) - coalesce(submitted_at, intended_at)) * 1000)::bigint end as "runMs"`;

export type ProviderJobEnd = JobName & {
  readonly outcome: ProviderJobOutcome;
  /** Set if this job ends the task, so that a repeated attempt ends it in the same way. */
  readonly failure?: TaskFailure;
  /** Shown to operators. */
  readonly detail?: string | undefined;
  /** True if nothing is left to be stopped upstream. */
  readonly isSettled?: boolean;
  /** Replaces the estimate that was recorded with the intent. */
  readonly cost?: 'free' | 'unknown' | undefined;
  /** Allows one more job at the same provider. */
  readonly isRepeatable?: boolean;
};

/** Commits the outcome of a job. Returns undefined if an earlier outcome stays. */
export const endProviderJob = maybeOne<EndedJob, [end: ProviderJobEnd]>({
  name: 'end-provider-job',
  text: `
update provider_jobs set outcome = $3, fail_code = $4, fail_msg = $5, ended_at = now(), detail = coalesce(left($6, 8192), detail),
  settled_at = case when $7 then now() else settled_at end, is_repeatable = $9,
  ${replacedCost('$8')}
where task_id = $1 and ordinal = $2 and outcome is null
returning ${endedColumns}`,
  values: ({ taskId, ordinal, outcome, failure, detail, isSettled = false, cost, isRepeatable = false }) => {
    const { failCode, failMsg } = failure ?? {};
    return [taskId, ordinal, outcome, failCode, failMsg, detail, isSettled, cost, isRepeatable];
  },
});

/** Ends the task's open job in success; a task has at most one open job. */
export const succeedProviderJob = maybeOne<EndedJob, [taskId: string]>({
  name: 'succeed-provider-job',
  text: `
update provider_jobs set outcome = 'success', ended_at = now()
where task_id = $1 and job_id is not null and outcome is null
returning ${endedColumns}`,
});

/** Records that a video arrived after its task was refunded: it was paid for upstream, and is never delivered. */
export const recordLateSuccess = maybeOne<EndedJob, [taskId: string]>({
  name: 'record-late-success',
  // Cost and duration were counted with its success.
  text: `
update provider_jobs set outcome = 'late_success', settled_at = now() where task_id = $1 and outcome = 'success'
returning provider, pool, outcome`,
});

/** A worker that was considered dead may send a create for this long, so a look-up that finds no job is repeated until then. */
export const callSettledAfterMs = 60_000;

/** A job that may still run, and cost, upstream although its task has ended. */
export type UnsettledJob = JobName & {
  readonly provider: string;
  readonly jobId: string | undefined;
  /** True if the task ended more than a day ago. */
  readonly isOld: boolean;
};

type UnsettledPage = {
  readonly minAgeMs: number;
  readonly after?: UnsettledJob | undefined;
  readonly limit: number;
};

/** Lists jobs of ended tasks that may still run upstream, oldest first. Creates that may still be in flight are left out. */
export const listUnsettledJobs = many<UnsettledJob, [page: UnsettledPage]>({
  name: 'list-unsettled-provider-jobs',
  text: `
select j.task_id as "taskId", j.ordinal, j.provider, j.job_id as "jobId", t.completed_at < now() - interval '1 day' as "isOld"
from provider_jobs j join tasks t on t.id = j.task_id
where j.settled_at is null and (j.outcome is null or j.outcome = 'abandoned')
  and t.${isFinished} and t.completed_at < now() - $1 * interval '1 millisecond'
  and (j.job_id is not null or j.intended_at < now() - ${callSettledAfterMs} * interval '1 millisecond')
  and ($2::uuid is null or (j.intended_at, j.task_id, j.ordinal) >
    (select intended_at, task_id, ordinal from provider_jobs where task_id = $2 and ordinal = $3))
order by j.intended_at, j.task_id, j.ordinal limit $4`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after?.taskId, after?.ordinal, limit],
});

type Settlement = Pick<ProviderJobEnd, 'taskId' | 'ordinal' | 'cost'> & {
  readonly outcome: 'abandoned' | 'late_success';
};

const settle = maybeOne<EndedJob & { readonly isFirst: boolean }, [settlement: Settlement]>({
  name: 'settle-provider-job',
  text: `
update provider_jobs set settled_at = now(), sent_input = null, outcome = $3, ended_at = coalesce(ended_at, now()), ${replacedCost('$4')}
where task_id = $1 and ordinal = $2 and ${mayRun}
returning ${endedColumns}, ended_at = now() as "isFirst"`,
  values: ({ taskId, ordinal, outcome, cost }) => [taskId, ordinal, outcome, cost],
});

/**
 * Commits that the job of an ended task has stopped, or finished too late. Returns a job that was abandoned before only if it finished
 * after all.
 */
export async function settleProviderJob(db: Database, settlement: Settlement): Promise<EndedJob | undefined> {
  const row = await settle(db, settlement);
  return row?.isFirst === true || settlement.outcome === 'late_success' ? row : undefined;
}

/** SQL that replaces the estimated cost, for a job that is certainly free or whose cost is unknown. */
function replacedCost(cost: '$4' | '$8'): string {
  return `cost_micros = case ${cost}::text when 'free' then cost_micros * 0 when 'unknown' then null else cost_micros end,
  cost_currency = case when ${cost} = 'unknown' then null else cost_currency end,
  cost_basis = case ${cost} when 'free' then 'estimated' else coalesce(${cost}, cost_basis) end`;
}
