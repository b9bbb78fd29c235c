import type { Job, JobStatus } from './contract.ts';

// What the answers of an upstream mean for one job, in the order in which they come.

/** How a job ended; `gone` is a job that its upstream has lost. */
export type Ended = Extract<JobStatus, { state: 'succeeded' | 'failed' }> | { readonly state: 'gone' };

export type FollowOptions = {
  /** How long ago the upstream accepted the job. */
  readonly ageMs: number;
  /** Called with 0 to 100 when the upstream tells it. */
  readonly onProgress: (progress: number) => void;
  readonly signal: AbortSignal;
};

/** Times are milliseconds of a clock that only goes forward. */
export type FollowedJob = Pick<FollowOptions, 'onProgress'> & {
  readonly job: Job;
  readonly acceptedAt: number;
  readonly end: (ended: Ended) => void;
  /** Its end is known, or nobody waits for it any more. */
  isOver: boolean;
  /** When it is to be asked about next. */
  dueAt: number;
  /** The request whose answer it waits for. */
  awaits: object | undefined;
  /** How many jobs a request with it may hold; 0 after one that held it alone has hung. */
  maxGroup: number;
  /** When the newest request was sent that told something about it. */
  heardOf: number;
  /** Answers in a row that told nothing about it. */
  unclearAnswers: number;
  missing: { readonly sinceMs: number; readonly answers: number } | undefined;
};

/** Keeps the job in `followed` until its end, or until the signal is aborted; rejects with the signal's reason then. */
export async function follow(followed: Set<FollowedJob>, job: Job, options: FollowOptions): Promise<Ended> {
  const { ageMs, onProgress, signal } = options;
  signal.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const now = performance.now();
    const stop = () => {
      followed.delete(one);
      one.isOver = true;
      signal.removeEventListener('abort', abort);
    };
    const abort = () => {
      stop();
      // Our signals are aborted with an error.
      reject(signal.reason as Error);
    };
    const end = (ended: Ended) => {
      stop();
      resolve(ended);
    };
    const asked = { isOver: false, dueAt: now, awaits: undefined, maxGroup: Infinity };
    const told = { heardOf: -Infinity, unclearAnswers: 0, missing: undefined };
    const one: FollowedJob = { job, acceptedAt: now - ageMs, onProgress, end, ...asked, ...told };
    signal.addEventListener('abort', abort);
    followed.add(one);
  });
}

/** A job that is missing so soon after its acceptance is not visible yet. */
const visibleAfterMs = 60_000;

/** How often in a row, and over how long, an upstream has to say that it knows no such job; the pauses fit in. */
const gone = {
  /** In the upstream's memory only: it has restarted. */
  forgotten: { answers: 2, overMs: 5_000, pauseMs: 5_000 },
  lost: { answers: 3, overMs: 60_000, pauseMs: 30_000 },
} as const;

type Heard = { readonly sentAt: number; readonly now: number; readonly forgetsJobs: boolean };

/**
 * Takes an answer to a request that was sent at `sentAt`: ends the job, or tells in how many milliseconds it wants to be asked
 * about again; undefined is the usual time. Requests overtake each other, and what an older one says counts only if it is final.
 */
export function hear(one: FollowedJob, status: JobStatus, { sentAt, now, forgetsJobs }: Heard): number | undefined {
  if (status.state === 'succeeded' || status.state === 'failed') {
    one.end(status);
    return undefined;
  }
  if (sentAt < one.heardOf) return undefined;
  one.heardOf = sentAt;
  if (status.state === 'unclear') {
    one.unclearAnswers += 1;
    return status.retryAfterMs ?? backOffMs(one.unclearAnswers);
  }
  one.unclearAnswers = 0;
  if (status.state === 'missing') return hearMissing(one, now, forgetsJobs ? gone.forgotten : gone.lost);
  one.missing = undefined;
  if (status.progress !== undefined) one.onProgress(status.progress);
  return undefined;
}

function hearMissing(one: FollowedJob, now: number, limit: (typeof gone)[keyof typeof gone]): number | undefined {
  if (now - one.acceptedAt < visibleAfterMs) return undefined;
  const { sinceMs, answers } = one.missing ?? { sinceMs: now, answers: 0 };
  one.missing = { sinceMs, answers: answers + 1 };
  if (answers + 1 >= limit.answers && now - sinceMs >= limit.overMs) one.end({ state: 'gone' });
  return limit.pauseMs;
}

/** 1, 2, 4 … 60 seconds after so many failures in a row. */
export function backOffMs(failures: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.min(failures - 1, 6));
}
