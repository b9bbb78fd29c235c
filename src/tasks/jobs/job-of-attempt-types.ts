import type { JsonObject } from '../../platform/text/json.ts';
import type { TierEntry } from '../../catalogue/file/catalogue-schema-and-types.ts';
import type { TaskFailure } from '../../catalogue/tasks/task.ts';
import type { RunProvider, Job as UpstreamJob, JobStatus, PolledProvider } from '../../providers/provider-contract.ts';
import type { ProviderWithTermsAndPoller } from '../../providers/open-providers.ts';
import type { OpenJobState } from './job-states.ts';
import type { JobRowKey, ProviderJob } from './provider-jobs.ts';
import type { GeneratingTask } from '../task-rows.ts';

/** The fields that a job has in every state. */
export type JobBase = JobRowKey & {
  /** The job's name at a provider that lets us give one. */
  readonly jobKey: string;
  /** Undefined on our own machine, which has no slots. */
  readonly pool: string | undefined;
  readonly open: ProviderWithTermsAndPoller;
  /** Jobs of the task that were lost before this one and made again. */
  readonly resubmissions: number;
};

/** The fields that the attempt at a job has in one state only. */
type JobStates = {
  /** A slot is taken, and nothing was sent yet. */
  readonly reserved: { readonly entry: TierEntry };
  /** Its intent is committed; it lives in its request, and ends with it. */
  readonly in_request: { readonly provider: RunProvider };
  /** Its intent is committed; whether its create reached the upstream is unknown. */
  readonly unanswered: { readonly provider: PolledProvider } & Pick<ProviderJob, 'intendedAt' | 'ageMs'> &
    Partial<Pick<ProviderJob, 'detail'>>;
  readonly running: UpstreamRun;
  readonly succeeded: UpstreamRun & { readonly success: Extract<JobStatus, { state: 'succeeded' }> };
};

type UpstreamRun = {
  readonly provider: PolledProvider;
  readonly upstream: UpstreamJob;
  /** When the upstream accepted the job, in Unix milliseconds. The database's clock, from which an earlier attempt's is read, may be ahead of ours. */
  readonly submittedAt: number;
  /** Unix milliseconds; undefined for a job that may still run. */
  readonly upstreamEndedAt?: number | undefined;
};

export type JobInState<State extends OpenJobState> = {
  [S in State]: JobBase & { readonly state: S } & JobStates[S];
}[State];

/** One job of a task, at one provider. */
export type OpenJob = JobInState<OpenJobState>;

/** The end of an attempt without a video. */
export type AttemptEndWithoutVideo =
  | { readonly kind: 'task_failed'; readonly failure: TaskFailure; readonly detail?: string | undefined }
  /** The task waits, and its deadline does not run; the next attempt begins after the pause. */
  | { readonly kind: 'waits'; readonly why: string; readonly pauseMs: number }
  /** The attempt ends without a decision; the next one resumes the job. */
  | { readonly kind: 'undecided'; readonly detail: string }
  /** The worker stops, or Temporal has replaced it; another attempt continues. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'cancelled' };

/** This job will produce no video, or its response was lost. The task's rows determine the next step. */
export type TryNextJob = { readonly kind: 'next' };

type KnownJob = Omit<UpstreamRun, 'upstream' | 'submittedAt'> & {
  readonly id: string;
  readonly handle?: unknown;
  /** Now by default. */
  readonly submittedAt?: number | undefined;
};

/** Builds the state of a job whose upstream id is known. */
export function asRunningJob(
  { param }: Pick<GeneratingTask, 'param'>,
  { taskId, ordinal, jobKey, pool, open, resubmissions }: JobBase,
  { provider, id, handle, submittedAt = Date.now(), upstreamEndedAt }: KnownJob,
): JobInState<'running'> {
  // Stored as the provider returned it, which is plain JSON.
  const upstream = { jobKey, id, handle: (handle ?? {}) as JsonObject, input: param.input };
  const base = { taskId, ordinal, jobKey, pool, open, resubmissions };
  return { state: 'running', ...base, provider, upstream, submittedAt, upstreamEndedAt };
}
