import type { TaskFailure } from '../../catalogue/tasks/task.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import { finishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';
import { lateCreateWindowMs } from './job-creates.ts';
import type { JobOutcome } from './job-states.ts';
import type { JobCost, JobRowKey, ProviderJob } from './provider-jobs.ts';
import { jobMayStillRunSql } from './provider-pools-and-switches.ts';

// A job ends upstream, which frees its slot; then its outcome is recorded; and a job that may still run is settled later.

/** Frees the job's slot, and records its cost if the upstream reported one. The first recorded end stays. */
export const freeSlotAndRecordCost = noRows<[job: JobRowKey & { readonly cost?: JobCost | 'unknown' | undefined }]>({
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
  readonly outcome: JobOutcome;
  /** From the acceptance of the job to its end; undefined if no job was created. */
  readonly runMs: number | undefined;
};

const endedColumns = `provider, pool, outcome, cost_micros as "costMicros", cost_currency as "costCurrency", cost_basis as "costBasis",
  case when job_id is not null then
    (extract(epoch from coalesce(upstream_ended_at, now()) - coalesce(submitted_at, intended_at)) * 1000)::bigint end as "runMs"`;

export type JobEnd = {
  readonly outcome: JobOutcome;
  /** Shown to operators. */
  readonly detail?: string | undefined;
  /** True if nothing is left to be stopped upstream. */
  readonly isSettled?: boolean;
  /** Replaces the estimate that was recorded with the intent. */
  readonly cost?: 'free' | 'unknown' | undefined;
  /** Allows one more job at the same provider. */
  readonly isRepeatable?: boolean;
};

type EndedBy = JobRowKey &
  JobEnd & {
    /** Set if this job ends the task, so that a repeated attempt ends it in the same way. */
    readonly failure?: TaskFailure | undefined;
  };

/** Commits the outcome of a job. Returns undefined if an earlier outcome stays. */
export const endProviderJob = maybeOne<EndedJob, [end: EndedBy]>({
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

/**
 * Ends the task's open job in success; a task has at most one open job. One that may still run upstream stays open: the video is that of an
 * earlier job, and `reconcile` stops this one.
 */
export const succeedProviderJob = maybeOne<EndedJob, [taskId: string]>({
  name: 'succeed-provider-job',
  text: `
update provider_jobs set outcome = 'success', ended_at = now()
where task_id = $1 and job_id is not null and outcome is null and (upstream_ended_at is not null or pool is null)
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

/** A job that may still run, and cost, upstream although its task has ended. */
export type LeftoverJob = JobRowKey & {
  readonly provider: string;
  readonly jobId: string | undefined;
  /** True if the task ended more than a day ago. */
  readonly isOld: boolean;
};

type LeftoverPage = {
  readonly minAgeMs: number;
  readonly after?: LeftoverJob | undefined;
  readonly limit: number;
};

/** Lists jobs of ended tasks that may still run upstream, oldest first. Creates that may still be in flight are left out. */
export const listLeftoverJobs = many<LeftoverJob, [page: LeftoverPage]>({
  name: 'list-unsettled-provider-jobs',
  text: `
select j.task_id as "taskId", j.ordinal, j.provider, j.job_id as "jobId", t.completed_at < now() - interval '1 day' as "isOld"
from provider_jobs j join tasks t on t.id = j.task_id
where j.settled_at is null and (j.outcome is null or j.outcome = 'abandoned')
  and t.${finishedTaskSql} and t.completed_at < now() - $1 * interval '1 millisecond'
  and (j.job_id is not null or j.intended_at < now() - ${lateCreateWindowMs} * interval '1 millisecond')
  and ($2::uuid is null or (j.intended_at, j.task_id, j.ordinal) >
    (select intended_at, task_id, ordinal from provider_jobs where task_id = $2 and ordinal = $3))
order by j.intended_at, j.task_id, j.ordinal limit $4`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after?.taskId, after?.ordinal, limit],
});

type Settlement = JobRowKey &
  Pick<JobEnd, 'cost'> & {
    readonly outcome: 'abandoned' | 'late_success';
  };

const settle = maybeOne<EndedJob & { readonly isFirst: boolean }, [settlement: Settlement]>({
  name: 'settle-provider-job',
  text: `
update provider_jobs set settled_at = now(), sent_input = null, outcome = $3, ended_at = coalesce(ended_at, now()), ${replacedCost('$4')}
where task_id = $1 and ordinal = $2 and ${jobMayStillRunSql}
returning ${endedColumns}, ended_at = now() as "isFirst"`,
  values: ({ taskId, ordinal, outcome, cost }) => [taskId, ordinal, outcome, cost],
});

/**
 * Commits that the job of an ended task has stopped, or finished too late. Returns a job that was abandoned before only if it finished
 * after all.
 */
export async function recordLeftoverJobEnd(db: Database, settlement: Settlement): Promise<EndedJob | undefined> {
  const row = await settle(db, settlement);
  return row?.isFirst === true || settlement.outcome === 'late_success' ? row : undefined;
}

/** SQL that replaces the estimated cost, for a job that is certainly free or whose cost is unknown. */
function replacedCost(cost: '$4' | '$8'): string {
  return `cost_micros = case ${cost}::text when 'free' then cost_micros * 0 when 'unknown' then null else cost_micros end,
  cost_currency = case when ${cost} = 'unknown' then null else cost_currency end,
  cost_basis = case ${cost} when 'free' then 'estimated' else coalesce(${cost}, cost_basis) end`;
}
