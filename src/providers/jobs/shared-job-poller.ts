import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import pTimeout from 'p-timeout';
import { detailOfAnswerOrError } from '../classify-upstream-answers.ts';
import type { Job, JobStatus, PolledProvider, Warn } from '../provider-contract.ts';

// Polls one upstream for all jobs of one frozen configuration that this worker follows.

export type SharedJobPoller = {
  /** Resolves with the end of the job; rejects with the signal's reason. The slots of the worker bound the number of jobs. */
  readonly follow: (job: Job, options: FollowOptions) => Promise<FollowOutcome>;
};

/** The end of a job; its upstream no longer has a job that is `lost`. */
export type FollowOutcome = Extract<JobStatus, { state: 'succeeded' | 'failed' }> | { readonly state: 'lost' };

type FollowOptions = {
  /** Since the upstream accepted the job. */
  readonly ageMs: number;
  /** Receives 0 to 100 when the upstream reports it. */
  readonly onProgress: (progress: number) => void;
  readonly signal: AbortSignal;
};

export type PollAnswerClarity = 'answered' | 'unclear';

/** Reserves the time of the next request, in milliseconds of `performance.now()`. All pollers of a provider share these reservations, which limit their rate together. */
export type ReservePollTime = (perSecond: number) => number;

export function createPollReservations(): ReservePollTime {
  let nextAt = -Infinity;
  return (perSecond) => {
    const at = Math.max(nextAt, performance.now());
    nextAt = at + 1000 / perSecond;
    return at;
  };
}

export type PollerDeps = {
  readonly provider: PolledProvider;
  readonly warn: Warn;
  readonly reservePollTime: ReservePollTime;
  readonly onPoll: (outcome: PollAnswerClarity) => void;
};

/** Times are milliseconds of `performance.now()`. */
type FollowedJob = Pick<FollowOptions, 'onProgress'> & {
  readonly job: Job;
  readonly acceptedAt: number;
  readonly end: (ended: FollowOutcome) => void;
  isPolled: boolean;
  dueAt: number;
  /** The largest request that may include it. */
  maxGroup: number;
  unclearInARow: number;
  missing: { readonly sinceMs: number; readonly answers: number } | undefined;
};

const maxInFlight = 8;
const responseTimeoutMs = 10_000;
/** Short, because the pause of the poller covers an upstream that is unavailable. */
const groupRetryMs = 1_000;

export function createSharedJobPoller({ provider, reservePollTime, warn, onPoll }: PollerDeps): SharedJobPoller {
  const followed = new Set<FollowedJob>();
  const pause = createPause(warn);
  let inFlight = 0;
  /** The time that is reserved for the next request. */
  let sendAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    follow: async (job, options) => {
      const ended = follow(followed, job, options);
      schedule();
      return await ended;
    },
  };

  function schedule(): void {
    clearTimeout(timer);
    if (inFlight >= maxInFlight) return;
    let dueAt = Infinity;
    for (const one of followed) if (!one.isPolled) dueAt = Math.min(dueAt, one.dueAt);
    if (dueAt === Infinity) return;
    const waitMs = Math.max(dueAt, sendAt ?? -Infinity, pause.until()) - performance.now();
    timer = setTimeout(sendNext, Math.max(0, Math.ceil(waitMs)));
  }

  function sendNext(): void {
    const jobs = mostOverdue(followed, provider);
    const now = performance.now();
    // A reserved time expires while the upstream is paused.
    if (sendAt !== undefined && sendAt < now - 1000) sendAt = undefined;
    if (jobs.length > 0) sendAt ??= reservePollTime(provider.maxPollsPerSecond);
    if (sendAt !== undefined && sendAt <= now && jobs.length > 0) {
      sendAt = undefined;
      // Many tasks share the request, so it belongs to the trace of none.
      void context.with(ROOT_CONTEXT, () => poll(jobs));
    }
    schedule();
  }

  async function poll(jobs: readonly FollowedJob[]): Promise<void> {
    const sentAt = performance.now();
    inFlight += 1;
    for (const one of jobs) one.isPolled = true;
    const statuses = await statusesOf(provider, jobs);
    inFlight -= 1;
    const isClear = statuses.some(({ state }) => state !== 'unclear');
    const isGroupFailure = !isClear && jobs.length > 1;
    onPoll(isClear ? 'answered' : 'unclear');
    if (isClear) pause.end(sentAt);
    else pause.begin(sentAt, statuses);
    for (const [index, one] of jobs.entries()) {
      one.isPolled = false;
      // One job may be the cause, so the jobs of a failed request are polled again in two halves.
      one.maxGroup = isClear ? Infinity : Math.ceil(jobs.length / 2);
      const status = statuses[index];
      if (status === undefined || !followed.has(one)) continue;
      const pauseMs = isGroupFailure ? groupRetryMs : applyStatus(one, status, provider.forgetsJobs);
      one.dueAt = pauseMs === undefined ? sentAt + intervalMs(one, provider) : performance.now() + pauseMs;
    }
    schedule();
  }
}

/** Adds the job to `followed` until its end, or until the signal is aborted; then it rejects with the signal's reason. */
async function follow(followed: Set<FollowedJob>, job: Job, options: FollowOptions): Promise<FollowOutcome> {
  const { ageMs, onProgress, signal } = options;
  signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const stop = () => {
      followed.delete(one);
      signal.removeEventListener('abort', abort);
    };
    const abort = () => {
      stop();
      // Our signals are aborted with an error.
      reject(signal.reason as Error);
    };
    const end = (ended: FollowOutcome) => {
      stop();
      resolve(ended);
    };
    const now = performance.now();
    const state = { isPolled: false, dueAt: now, maxGroup: Infinity, unclearInARow: 0, missing: undefined };
    const one: FollowedJob = { job, acceptedAt: now - ageMs, onProgress, end, ...state };
    signal.addEventListener('abort', abort);
    followed.add(one);
  });
}

/** Returns one status for each job, in order. An error or a timeout makes all of them unclear. */
async function statusesOf(provider: PolledProvider, followed: readonly FollowedJob[]): Promise<readonly JobStatus[]> {
  const jobs = followed.map(({ job }) => job);
  const stop = new AbortController();
  const limit = { milliseconds: responseTimeoutMs, message: 'the upstream did not answer in time' };
  const answer = await pTimeout(provider.status(jobs, stop.signal), limit).catch((error: unknown) => {
    stop.abort();
    return detailOfAnswerOrError({ error });
  });
  return jobs.map(({ jobKey }) => {
    if (typeof answer === 'string') return { state: 'unclear', detail: answer };
    return answer.get(jobKey) ?? { state: 'unclear', detail: 'the answer does not mention the job' };
  });
}

/** Starts with the jobs that have waited longest, and adds jobs that are due soon, so that jobs come to share requests. */
function mostOverdue(followed: ReadonlySet<FollowedJob>, { maxBatch, minPollMs }: PolledProvider) {
  const now = performance.now();
  const soon = [...followed].filter((one) => !one.isPolled && one.dueAt <= now + minPollMs / 2);
  const jobs: FollowedJob[] = [];
  let limit = maxBatch;
  for (const one of soon.toSorted((a, b) => a.dueAt - b.dueAt)) {
    if (jobs.length === 0 && one.dueAt > now) break;
    limit = Math.min(limit, one.maxGroup);
    if (jobs.length >= limit) break;
    jobs.push(one);
  }
  return jobs;
}

/** Ends the job, or returns the milliseconds until its next request; undefined is the usual interval. */
function applyStatus(one: FollowedJob, status: JobStatus, forgetsJobs: boolean): number | undefined {
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

/** A job may become visible only after this time. */
const visibleAfterMs = 60_000;

/** The answers in a row, and the time between them, after which a missing job is lost. */
const lostAfter = {
  /** The upstream has its jobs in memory only, and has restarted. */
  inMemory: { answers: 2, overMs: 5_000, pauseMs: 5_000 },
  stored: { answers: 3, overMs: 60_000, pauseMs: 30_000 },
} as const;

function countMissing(one: FollowedJob, limit: (typeof lostAfter)[keyof typeof lostAfter]): number | undefined {
  const now = performance.now();
  if (now - one.acceptedAt < visibleAfterMs) return undefined;
  const { sinceMs, answers } = one.missing ?? { sinceMs: now, answers: 0 };
  one.missing = { sinceMs, answers: answers + 1 };
  if (answers + 1 >= limit.answers && now - sinceMs >= limit.overMs) one.end({ state: 'lost' });
  return limit.pauseMs;
}

const maxIntervalMs = 10_000;

/** Without batches, the interval of a job is a twentieth of its age. */
function intervalMs({ acceptedAt }: FollowedJob, { maxBatch, minPollMs }: PolledProvider): number {
  if (maxBatch > 1) return minPollMs;
  return Math.max(minPollMs, Math.min(maxIntervalMs, (performance.now() - acceptedAt) / 20));
}

/** Pauses all requests after failures, with exponential backoff or for the time that the upstream requested. */
function createPause(warn: Warn) {
  let failures = 0;
  let failedAt = -Infinity;
  let until = -Infinity;
  let clearSentAt = -Infinity;
  return {
    until: () => until,
    end: (sentAt: number) => {
      failures = 0;
      clearSentAt = Math.max(clearSentAt, sentAt);
    },
    begin: (sentAt: number, statuses: readonly JobStatus[]) => {
      // If a later request succeeded, the jobs of this one are the cause, not the upstream. Concurrent failures count once.
      if (sentAt < clearSentAt || sentAt < failedAt) return;
      const unclear = statuses.flatMap((status) => (status.state === 'unclear' ? [status] : []));
      const requestedMs = Math.max(0, ...unclear.map(({ retryAfterMs = 0 }) => retryAfterMs));
      failures += 1;
      failedAt = performance.now();
      until = failedAt + (requestedMs > 0 ? requestedMs : backoffMs(failures));
      warn('job polling paused', unclear[0]?.detail ?? '');
    },
  };
}

/** Returns the pause after this many failures in a row: 1, 2, 4 … 60 seconds. */
function backoffMs(failures: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.min(failures - 1, 6));
}
