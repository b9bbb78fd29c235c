import type { TaskFailure } from '../domain/task.ts';
import { type Database, readRows } from './database.ts';

export type ProviderJobOutcome = 'success' | 'fail' | 'not_created' | 'abandoned' | 'late_success';

/** One call for a job upstream. Without `jobId` the call's answer is unknown: it may or may not have made a job. */
export type ProviderJob = {
  readonly ordinal: number;
  readonly provider: string;
  readonly jobId: string | undefined;
  readonly outcome: ProviderJobOutcome | undefined;
  /** Why the task failed with this job; set for the job that decided the task's end. */
  readonly failure: TaskFailure | undefined;
  /** Milliseconds since the intent was committed, by the database's clock. */
  readonly ageMs: number;
};

const selectJobs = {
  name: 'list-provider-jobs',
  text: `
select ordinal, provider, job_id as "jobId", outcome,
  case when fail_code is not null then json_build_object('failCode', fail_code, 'failMsg', fail_msg) end as failure,
  (extract(epoch from now() - intended_at) * 1000)::bigint as "ageMs"
from provider_jobs where task_id = $1 order by ordinal`,
};

/** Every job of a task, oldest first; a task has no more than a handful. */
export async function listProviderJobs(db: Database, taskId: string): Promise<readonly ProviderJob[]> {
  return readRows<ProviderJob>(db, selectJobs, [taskId]);
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
  text: `
update provider_jobs set job_id = $3, submitted_at = coalesce(submitted_at, now()),
  settled_at = case when outcome in ('not_created', 'abandoned') and job_id is distinct from $3 then null else settled_at end,
  outcome = case outcome when 'not_created' then 'abandoned' else outcome end
where task_id = $1 and ordinal = $2
returning outcome is distinct from 'abandoned' as is_wanted`,
};

/**
 * Commits the id of the job that the provider made. Answers false when the call was given up meanwhile (its
 * worker was frozen): the job must then be stopped, and `reconcile` finds it until it is. If another attempt has recorded an
 * end of the same job, that end stays.
 */
export async function recordProviderJob(
  db: Database,
  { taskId, ordinal, jobId }: { taskId: string; ordinal: number; jobId: string },
): Promise<boolean> {
  const [row] = await db.run<{ is_wanted: boolean }>(recordSubmitted, [taskId, ordinal, jobId]);
  return row?.is_wanted === true;
}

const recordEnded = {
  name: 'end-provider-job',
  text: `
update provider_jobs set outcome = $3, fail_code = $4, fail_msg = $5, ended_at = now()
where task_id = $1 and ordinal = $2 and outcome is null`,
};

export type ProviderJobEnd = {
  readonly taskId: string;
  readonly ordinal: number;
  readonly outcome: ProviderJobOutcome;
  /** Given when this job decides that the task fails: a repeated attempt then comes to the same end. */
  readonly failure?: TaskFailure;
};

/** Commits how a job ended; the first outcome stays. */
export async function endProviderJob(
  db: Database,
  { taskId, ordinal, outcome, failure }: ProviderJobEnd,
): Promise<void> {
  await db.run(recordEnded, [taskId, ordinal, outcome, failure?.failCode, failure?.failMsg]);
}

const recordSuccess = {
  name: 'succeed-provider-job',
  text: `
update provider_jobs set outcome = 'success', ended_at = now()
where task_id = $1 and job_id is not null and outcome is null`,
};

/** The task's open job, of which there is one at most, has given its video. */
export async function succeedProviderJob(db: Database, taskId: string): Promise<void> {
  await db.run(recordSuccess, [taskId]);
}

const recordLate = {
  name: 'record-late-success',
  text: `update provider_jobs set outcome = 'late_success', settled_at = now() where task_id = $1 and outcome = 'success'`,
};

/** A video came after its task had been refunded: it was paid for upstream and is never delivered. */
export async function recordLateSuccess(db: Database, taskId: string): Promise<void> {
  await db.run(recordLate, [taskId]);
}

/**
 * A call without an answer may still make its job for so long, from a worker that was taken for dead. A provider that knows no
 * job before that is asked again later.
 */
export const callSettledAfterMs = 60_000;

/** A job that may still run, and cost, upstream although its task has failed. */
export type UnsettledJob = {
  readonly taskId: string;
  readonly ordinal: number;
  readonly provider: string;
  readonly jobId: string | undefined;
};

const selectUnsettled = {
  name: 'list-unsettled-provider-jobs',
  text: `
select j.task_id as "taskId", j.ordinal, j.provider, j.job_id as "jobId" from provider_jobs j join tasks t on t.id = j.task_id
where j.settled_at is null and (j.outcome is null or j.outcome = 'abandoned')
  and t.state = 'fail' and t.completed_at < now() - $1 * interval '1 millisecond'
  and (j.job_id is not null or j.intended_at < now() - ${callSettledAfterMs} * interval '1 millisecond')
  and ($2::uuid is null or (j.intended_at, j.task_id, j.ordinal) >
    (select intended_at, task_id, ordinal from provider_jobs where task_id = $2 and ordinal = $3))
order by j.intended_at, j.task_id, j.ordinal limit $4`,
};

/** Jobs without a known end whose task ended `minAgeMs` ago or earlier and whose call cannot still be on its way, oldest first, a bounded page after the given one. */
export async function listUnsettledJobs(
  db: Database,
  { minAgeMs, after, limit }: { minAgeMs: number; after?: UnsettledJob | undefined; limit: number },
): Promise<readonly UnsettledJob[]> {
  return readRows<UnsettledJob>(db, selectUnsettled, [minAgeMs, after?.taskId, after?.ordinal, limit]);
}

const settleUnsettled = {
  name: 'settle-provider-job',
  text: `
update provider_jobs set settled_at = now(), outcome = $3, ended_at = coalesce(ended_at, now())
where task_id = $1 and ordinal = $2 and settled_at is null and (outcome is null or outcome = 'abandoned')`,
};

/** Commits that a failed task's job was looked at for the last time: stopped, or finished too late. */
export async function settleProviderJob(
  db: Database,
  { taskId, ordinal }: Pick<UnsettledJob, 'taskId' | 'ordinal'>,
  outcome: 'abandoned' | 'late_success',
): Promise<void> {
  await db.run(settleUnsettled, [taskId, ordinal, outcome]);
}
