import pTimeout from 'p-timeout';
import { detailOf } from './answers.ts';
import type { Job, JobStatus, PolledProvider, Warn } from './contract.ts';
import { backOffMs, type Ended, follow, type FollowedJob, type FollowOptions, hear } from './followed-job.ts';

// All jobs of one frozen configuration that this worker follows share their questions to the upstream.

export type Poller = {
  /** The end of the job; rejects with the signal's reason. The slots of the worker bound how many jobs are followed. */
  follow(job: Job, options: FollowOptions): Promise<Ended>;
  /** The job may have changed: it is asked about next. */
  hint(jobKey: string): void;
};

export type PollerDeps = {
  readonly provider: PolledProvider;
  readonly warn: Warn;
  /** Counts requests: `hung` is one that was still without an answer when its jobs were asked about again. */
  readonly onPoll: (outcome: 'answered' | 'unclear' | 'hung') => void;
};

/** One request, and the jobs that it asks about. */
type Poll = { readonly jobs: readonly FollowedJob[]; readonly sentAt: number; isHanging: boolean };

const maxInFlight = 8;
/** Requests without an answer beside those; when so many hang, the upstream does, and asking once more does not help. */
const maxHanging = 4;
/** A request may take so long, or twice the usual time, before its jobs are asked about again in others. */
const hangsAfterMs = 700;
const answerLimitMs = 10_000;

export function createPoller(deps: PollerDeps): Poller {
  const { provider, onPoll } = deps;
  const followed = new Set<FollowedJob>();
  const inFlight = { answering: 0, hanging: 0 };
  const rest = createRest(deps);
  let nextSendAt = -Infinity;
  let usualMs = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    follow: async (job, options) => {
      const end = follow(followed, job, options);
      schedule();
      return await end;
    },
    hint: (jobKey) => {
      for (const one of followed) {
        if (one.job.jobKey !== jobKey) continue;
        one.isHinted = true;
        one.dueAt = Math.min(one.dueAt, performance.now());
      }
      schedule();
    },
  };

  function schedule(): void {
    clearTimeout(timer);
    if (inFlight.answering >= maxInFlight) return;
    let dueAt = Infinity;
    for (const one of followed) if (one.awaits === undefined) dueAt = Math.min(dueAt, one.dueAt);
    if (dueAt === Infinity) return;
    const waitMs = Math.max(dueAt, nextSendAt, rest.until()) - performance.now();
    timer = setTimeout(sendNext, Math.max(0, Math.ceil(waitMs)));
  }

  function sendNext(): void {
    const jobs = mostOverdue(followed, provider);
    if (jobs.length > 0) void send(jobs);
    schedule();
  }

  async function send(jobs: readonly FollowedJob[]): Promise<void> {
    const poll: Poll = { jobs, sentAt: performance.now(), isHanging: false };
    for (const one of jobs) {
      one.awaits = poll;
      one.isHinted = false;
    }
    inFlight.answering += 1;
    nextSendAt = poll.sentAt + 1000 / provider.maxPollsPerSecond;
    const hanging = setTimeout(() => askAgain(poll), Math.max(hangsAfterMs, 2 * usualMs));
    const statuses = await statusesOf(provider, jobs);
    clearTimeout(hanging);
    inFlight[poll.isHanging ? 'hanging' : 'answering'] -= 1;
    take(poll, statuses);
    schedule();
  }

  /** One job may be what the upstream hangs on, so they are asked about in two halves; one that hung alone is left to its limit. */
  function askAgain(poll: Poll): void {
    const jobs = poll.jobs.filter((one) => followed.has(one) && one.maxGroup > 0);
    if (inFlight.hanging >= maxHanging || jobs.length === 0) return;
    poll.isHanging = true;
    inFlight.answering -= 1;
    inFlight.hanging += 1;
    onPoll('hung');
    for (const one of jobs) {
      one.awaits = undefined;
      one.dueAt = performance.now();
      one.maxGroup = Math.floor(poll.jobs.length / 2);
    }
    schedule();
  }

  function take(poll: Poll, statuses: readonly JobStatus[]): void {
    const { sentAt } = poll;
    const now = performance.now();
    const isClear = statuses.some(({ state }) => state !== 'unclear');
    if (isClear) usualMs = 0.8 * usualMs + 0.2 * (now - sentAt);
    if (!poll.isHanging) onPoll(isClear ? 'answered' : 'unclear');
    const isKnownDown = isClear ? rest.cleared(sentAt) : rest.failed(sentAt, statuses);
    for (const [index, one] of poll.jobs.entries()) {
      const status = statuses[index];
      if (status === undefined || !followed.has(one)) continue;
      const isOld = sentAt < one.heardOf;
      if (status.state !== 'unclear' && !isOld) one.maxGroup = Infinity;
      // While the upstream is down, its rest is the only one: jobs do not add their own for its failures.
      const pauseMs = isKnownDown ? undefined : hear(one, status, { sentAt, now, forgetsJobs: provider.forgetsJobs });
      if (isOld || (one.awaits !== undefined && one.awaits !== poll)) continue;
      one.awaits = undefined;
      one.dueAt = pauseMs === undefined ? sentAt + intervalMs(one, followed.size, provider) : now + pauseMs;
      // What was under way may be from before the change.
      if (one.isHinted) one.dueAt = now;
    }
  }
}

/** The first are those that wait longest. What is due soon fills the request up: jobs of many beginnings come to share requests. */
function mostOverdue(followed: ReadonlySet<FollowedJob>, { maxBatch, minPollMs }: PolledProvider) {
  const now = performance.now();
  const soon = [...followed].filter((one) => one.awaits === undefined && one.dueAt <= now + minPollMs / 2);
  const jobs: FollowedJob[] = [];
  let limit = maxBatch;
  for (const one of soon.toSorted((a, b) => a.dueAt - b.dueAt)) {
    if (jobs.length === 0 && one.dueAt > now) break;
    limit = Math.min(limit, Math.max(1, one.maxGroup));
    if (jobs.length >= limit) break;
    jobs.push(one);
  }
  return jobs;
}

/** In the order of `jobs`. An error and silence tell nothing. */
async function statusesOf(provider: PolledProvider, followed: readonly FollowedJob[]): Promise<readonly JobStatus[]> {
  const jobs = followed.map(({ job }) => job);
  const stop = new AbortController();
  const limit = { milliseconds: answerLimitMs, message: 'the upstream did not answer in time' };
  const answer = await pTimeout(provider.status(jobs, stop.signal), limit).catch((error: unknown) => {
    stop.abort();
    return detailOf({ error });
  });
  return jobs.map(({ jobKey }) => {
    if (typeof answer === 'string') return { state: 'unclear', detail: answer };
    return answer.get(jobKey) ?? { state: 'unclear', detail: 'the answer does not mention the job' };
  });
}

/** Where each job takes a request of its own, it is asked about after a twentieth of its age, up to this. */
const maxIntervalMs = 10_000;

function intervalMs({ acceptedAt }: FollowedJob, jobs: number, provider: PolledProvider): number {
  const { maxBatch, minPollMs, maxPollsPerSecond } = provider;
  const roundMs = (Math.ceil(jobs / maxBatch) / maxPollsPerSecond) * 1000;
  const ownMs = maxBatch === 1 ? Math.min(maxIntervalMs, (performance.now() - acceptedAt) / 20) : 0;
  return Math.max(roundMs, ownMs, minPollMs);
}

/** For how long the upstream is left alone because it does not answer, or asks for that. */
function createRest({ warn }: PollerDeps) {
  let failures = 0;
  let since = -Infinity;
  let until = -Infinity;
  let clearSentAt = -Infinity;
  return {
    until: () => until,
    cleared: (sentAt: number): false => {
      failures = 0;
      clearSentAt = Math.max(clearSentAt, sentAt);
      return false;
    },
    /** Whether the upstream was down before; if not, the jobs in the request may be at fault. */
    failed: (sentAt: number, statuses: readonly JobStatus[]): boolean => {
      if (sentAt < clearSentAt) return false;
      const wasDown = failures > 0;
      // Requests that were under way together fail together, which is one failure.
      if (sentAt < since) return wasDown;
      const unclear = statuses.flatMap((status) => (status.state === 'unclear' ? [status] : []));
      const askedMs = Math.max(0, ...unclear.map(({ retryAfterMs = 0 }) => retryAfterMs));
      failures += 1;
      since = performance.now();
      until = since + (askedMs > 0 ? askedMs : backOffMs(failures));
      warn('provider does not tell the state of jobs', unclear[0]?.detail ?? '');
      return wasDown;
    },
  };
}
