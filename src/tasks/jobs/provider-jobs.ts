import type { TaskFailure, TaskInput } from '../../catalogue/tasks/task.ts';
import type { JobOutcome } from './job-states.ts';
import { many } from '../../platform/database/declare-statements.ts';

export const costBases = ['reported', 'estimated', 'unknown'] as const;
/** Micro-units of a currency: 1,000,000 are one dollar. */
export type JobCost = { readonly micros: number; readonly currency: string; readonly basis: 'reported' | 'estimated' };

/** The primary key of a job: its task, and its number among all jobs of the task. */
export type JobRowKey = { readonly taskId: string; readonly ordinal: number };

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
  readonly outcome: JobOutcome | undefined;
  /** True if the upstream refused the video that it made, and one more job may be made there. */
  readonly isRepeatable: boolean;
  /** Set for the job that decided the task's end. */
  readonly failure: TaskFailure | undefined;
  /** Unix milliseconds by the database's clock, like the other times. */
  readonly intendedAt: number | undefined;
  /** When the upstream accepted the job. */
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
