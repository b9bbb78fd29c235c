import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Job, JobStatus, PolledProvider, Warn } from './contract.ts';
import { backOffMs, type Ended, follow, type FollowedJob, type FollowOptions, hear } from './followed-job.ts';
import type { PollRate } from './poll-rate.ts';
import { createPollRequests, type Poll, type PollOutcome } from './poll-requests.ts';

// All jobs of one frozen configuration that this worker follows share their questions to the upstream. Pollers of one provider share
// its rate.

export type Poller = {
  /** The end of the job; rejects with the signal's reason. The slots of the worker bound how many jobs are followed. */
  follow(job: Job, options: FollowOptions): Promise<Ended>;
};

export type PollerDeps = {
  readonly provider: PolledProvider;
  readonly warn: Warn;
  readonly rate: PollRate;
  /** Counts the requests. */
  readonly onPoll: (outcome: PollOutcome) => void;
};

export function createPoller({ provider, rate, warn, onPoll }: PollerDeps): Poller {
  const followed = new Set<FollowedJob>();
  const requests = createPollRequests(provider, { onAnswer: take, onRoom: schedule, onPoll });
  const rest = createRest(warn);
  /** The time that the rate has given to the next request. */
  let sendAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    follow: async (job, options) => {
      const end = follow(followed, job, options);
      schedule();
      return await end;
    },
  };

  function schedule(): void {
    clearTimeout(timer);
    if (requests.isFull()) return;
    let dueAt = Infinity;
    for (const one of followed) if (one.awaits === undefined) dueAt = Math.min(dueAt, one.dueAt);
    if (dueAt === Infinity) return;
    const waitMs = Math.max(dueAt, sendAt ?? -Infinity, rest.until()) - performance.now();
    timer = setTimeout(sendNext, Math.max(0, Math.ceil(waitMs)));
  }

  function sendNext(): void {
    const jobs = mostOverdue(followed, provider);
    const now = performance.now();
    // A time that was not used, because the upstream was left alone meanwhile, has lapsed.
    if (sendAt !== undefined && sendAt < now - 1000) sendAt = undefined;
    if (jobs.length > 0) sendAt ??= rate(provider.maxPollsPerSecond);
    if (sendAt !== undefined && sendAt <= now && jobs.length > 0) {
      sendAt = undefined;
      // Shared by many tasks, so of no task's trace.
      void context.with(ROOT_CONTEXT, () => requests.send(jobs));
    }
    schedule();
  }

  function take(poll: Poll, statuses: readonly JobStatus[]): void {
    const { sentAt } = poll;
    const now = performance.now();
    const isClear = statuses.some(({ state }) => state !== 'unclear');
    if (isClear) rest.cleared(sentAt);
    else rest.failed(sentAt, statuses);
    for (const [index, one] of poll.jobs.entries()) {
      const status = statuses[index];
      if (status === undefined || one.isOver) continue;
      if (status.state !== 'unclear') one.maxGroup = Infinity;
      const pauseMs = hear(one, status, { sentAt, now, forgetsJobs: provider.forgetsJobs });
      if (one.awaits !== undefined && one.awaits !== poll) continue;
      one.awaits = undefined;
      one.dueAt = pauseMs === undefined ? sentAt + intervalMs(one, provider) : now + pauseMs;
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

/** Where each job takes a request of its own, it is asked about after a twentieth of its age, up to this. */
const maxIntervalMs = 10_000;

/** More jobs than the rate allows for are asked about in turn, those first that have waited longest. */
function intervalMs({ acceptedAt }: FollowedJob, { maxBatch, minPollMs }: PolledProvider): number {
  if (maxBatch > 1) return minPollMs;
  return Math.max(minPollMs, Math.min(maxIntervalMs, (performance.now() - acceptedAt) / 20));
}

/** For how long the upstream is left alone because it does not answer, or asks for that. */
function createRest(warn: Warn) {
  let failures = 0;
  let since = -Infinity;
  let until = -Infinity;
  let clearSentAt = -Infinity;
  return {
    until: () => until,
    cleared: (sentAt: number) => {
      failures = 0;
      clearSentAt = Math.max(clearSentAt, sentAt);
    },
    failed: (sentAt: number, statuses: readonly JobStatus[]) => {
      // Where a later request was answered, the jobs in this one are at fault, not the upstream. Requests that were under way
      // together fail together, which is one failure.
      if (sentAt < clearSentAt || sentAt < since) return;
      const unclear = statuses.flatMap((status) => (status.state === 'unclear' ? [status] : []));
      const askedMs = Math.max(0, ...unclear.map(({ retryAfterMs = 0 }) => retryAfterMs));
      failures += 1;
      since = performance.now();
      until = since + (askedMs > 0 ? askedMs : backOffMs(failures));
      warn('provider does not tell the state of jobs', unclear[0]?.detail ?? '');
    },
  };
}
