import type { Job, JobStatus } from '../provider-contract.ts';

/** The end of a job; its upstream no longer has a job that is `lost`. */
export type FollowOutcome = Extract<JobStatus, { state: 'succeeded' | 'failed' }> | { readonly state: 'lost' };

export type FollowOptions = {
  /** Since the upstream accepted the job. */
  readonly ageMs: number;
  /** Receives 0 to 100 when the upstream reports it. */
  readonly onProgress: (progress: number) => void;
  readonly signal: AbortSignal;
};

/** Times are milliseconds of `performance.now()`. */
export type FollowedJob = Pick<FollowOptions, 'onProgress'> & {
  readonly job: Job;
  readonly acceptedAt: number;
  readonly end: (ended: FollowOutcome) => void;
  isPolled: boolean;
  /** The time of the next request. */
  dueAt: number;
  /** The largest request that may include it. */
  maxGroup: number;
  unclearInARow: number;
  missing: { readonly sinceMs: number; readonly answers: number } | undefined;
};

/** A job may become visible only after this time. */
const visibleAfterMs = 60_000;

/** The answers in a row, and the time between them, after which a missing job is lost. */
const lostAfter = {
  /** The upstream has its jobs in memory only, and has restarted. */
  inMemory: { answers: 2, overMs: 5_000, pauseMs: 5_000 },
  stored: { answers: 3, overMs: 60_000, pauseMs: 30_000 },
} as const;

/** Ends the job, or returns the milliseconds until its next request; undefined is the usual interval. */
export function applyStatus(one: FollowedJob, status: JobStatus, forgetsJobs: boolean): number | undefined {
  if (status.state === 'succeeded' || status.state === 'failed') {
    one.end(status);
    return undefined;
  }
  if (status.state === 'unclear') {
    one.unclearInARow += 1;
    return status.retryAfterMs ?? backoffMs(one.unclearInARow);
  }
  one.unclearInARow = 0;
  if (status.state === 'missing') return countMissing(one, forgetsJobs ? lostAfter.inMemory : lostAfter.stored);
  one.missing = undefined;
  if (status.progress !== undefined) one.onProgress(status.progress);
  return undefined;
}

function countMissing(one: FollowedJob, limit: (typeof lostAfter)[keyof typeof lostAfter]): number | undefined {
  const now = performance.now();
  if (now - one.acceptedAt < visibleAfterMs) return undefined;
  const { sinceMs, answers } = one.missing ?? { sinceMs: now, answers: 0 };
  one.missing = { sinceMs, answers: answers + 1 };
  if (answers + 1 >= limit.answers && now - sinceMs >= limit.overMs) one.end({ state: 'lost' });
  return limit.pauseMs;
}

/**
 * Returns the pause after this many failures in a row: 1, 2, 4 … 60 seconds.
 */
export function backoffMs(failures: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.min(failures - 1, 6));
}
