import { Context } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { ResultStore } from '../../src/media/store/result-store.ts';
import type { TaskEventSink } from '../../src/tasks/task-metric-events.ts';
import type { JobRequest } from '../../src/providers/provider-contract.ts';
import type { ConversionBeforeStorage } from '../../src/catalogue/media/conversion-before-storage.ts';
import { type GeneratingTask, recordGenerating } from '../../src/tasks/task-rows.ts';
import { TaskEndedAbortReason } from '../running-attempts.ts';
import { delayAbort, type StartDeadline } from '../abort-timers.ts';
import type { ProviderSwitches } from '../watch-provider-switches.ts';
import { providerFailures } from '../../src/tasks/jobs/task-failures-of-jobs.ts';
import type { RoutingDeps } from '../../src/tasks/jobs/next-job.ts';
import type { OpenJob, TryNextJob, AttemptEndWithoutVideo } from '../../src/tasks/jobs/job-of-attempt-types.ts';
import type { ConversionOrStoredResult } from '../convert-and-store-video.ts';

export type GenerationDeps = RoutingDeps & {
  readonly log: Logger;
  readonly events: TaskEventSink;
  readonly switches: ProviderSwitches;
  /** Identifies an account to upstreams without naming it, by the current secret and by each previous one. */
  readonly hashAccount: (accountId: string) => AccountPseudonyms;
  readonly media: Pick<
    ResultStore,
    'put' | 'move' | 'sizeOf' | 'list' | 'delete' | 'deleteFolder' | 'link' | 'uploadLink'
  >;
  /** Starts the deadline of an attempt, and the grace time of a create in flight; tests end them. */
  readonly startDeadline: StartDeadline;
};

export type AccountPseudonyms = readonly [current: string, ...previous: string[]];

export type GenerationAttempt = {
  readonly deps: GenerationDeps;
  readonly task: GeneratingTask;
  /** Unix milliseconds; `at` is undefined until the task has its first job. */
  readonly started: { at: number | undefined };
  /** Undefined for a video that is stored as it was delivered. */
  readonly form: ConversionBeforeStorage | undefined;
  /** Empty, used by this attempt alone, and deleted after it. */
  readonly workFolder: string;
  /** Aborts at the deadline, and with `signalWithoutDeadline`. */
  readonly signal: AbortSignal;
  /** Aborts when the attempt must end. A video that is paid for is fetched beyond the deadline. */
  readonly signalWithoutDeadline: AbortSignal;
  /** The reference media, fetched once in an attempt. */
  readonly media: JobRequest['media'];
  readonly report: (progress: number) => void;
};

/** The result of a step. An exception is an error of our own, such as an unavailable database, and is retried. */
export type StepOutcome =
  | { readonly kind: 'job'; readonly job: OpenJob }
  | TryNextJob
  | { readonly kind: 'video'; readonly staged: ConversionOrStoredResult }
  | AttemptEndWithoutVideo;

/** Records that the task has had a job for `sinceMs`, which makes it `generating`. Idempotent. */
export async function markGenerating({ deps, task, started }: GenerationAttempt, sinceMs = 0): Promise<void> {
  if (started.at !== undefined) return;
  started.at = (await recordGenerating(deps.db, task.taskId, sinceMs))?.generationStartedAt;
  if (started.at === undefined) return;
  deps.events.emit({ kind: 'stage_ended', stage: 'queue_wait', durationMs: started.at - task.createdAt });
}

/** Short enough to end before a worker that shuts down is stopped by force. */
export const jobCreateGraceMs = 10_000;

/**
 * Runs a create, or records its job, under a signal that aborts ten seconds after `signal`: the upstream may have accepted a job whose id
 * is still on its way, and without its id a paid job cannot be stopped.
 */
export async function withJobCreateGrace<T>(
  { deps }: { readonly deps: Pick<GenerationDeps, 'startDeadline'> },
  signal: AbortSignal,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = delayAbort(signal, jobCreateGraceMs, deps.startDeadline);
  try {
    return await work(late.signal);
  } finally {
    late.stop();
  }
}

type Signals = Pick<GenerationAttempt, 'signal' | 'signalWithoutDeadline'>;

/** Returns the end of an attempt whose signal has aborted. */
export function attemptEndAfterAbort(attempt: Signals): AttemptEndWithoutVideo {
  if (hasDeadlinePassed(attempt)) return { kind: 'task_failed', failure: providerFailures.timeout };
  return isAbortedByCancellation(attempt) ? { kind: 'cancelled' } : { kind: 'interrupted' };
}

export function hasDeadlinePassed({ signal, signalWithoutDeadline }: Signals): boolean {
  return signal.aborted && !signalWithoutDeadline.aborted;
}

/** False for a worker that shuts down, or that Temporal has replaced: the next attempt continues the job. */
export function isAbortedByCancellation({
  signalWithoutDeadline: { reason },
}: Pick<GenerationAttempt, 'signalWithoutDeadline'>): boolean {
  return Context.current().cancellationDetails?.cancelRequested === true || reason instanceof TaskEndedAbortReason;
}
