import pTimeout from 'p-timeout';
import { detailOf } from './answers.ts';
import type { JobStatus, PolledProvider } from './contract.ts';
import type { FollowedJob } from './followed-job.ts';

// The requests of a poller that are under way: how many there may be, and what becomes of one that hangs.

/** One request, and the jobs that it asks about. */
export type Poll = { readonly jobs: readonly FollowedJob[]; readonly sentAt: number; isHanging: boolean };

/** `hung` is a request that was still without an answer when its jobs were asked about again. */
export type PollOutcome = 'answered' | 'unclear' | 'hung';

type Listener = {
  /** `statuses` are in the order of the jobs, and all unclear when there was no answer. */
  readonly onAnswer: (poll: Poll, statuses: readonly JobStatus[]) => void;
  /** A request, or a job that hung in one, can be sent. */
  readonly onRoom: () => void;
  readonly onPoll: (outcome: PollOutcome) => void;
};

export type PollRequests = {
  isFull(): boolean;
  send(jobs: readonly FollowedJob[]): Promise<void>;
};

const maxInFlight = 8;
/** Requests without an answer beside those; when so many hang, the upstream does, and asking once more does not help. */
const maxHanging = 4;
/** A request may take so long, or twice the usual time, before its jobs are asked about again in others. */
const hangsAfterMs = 700;
const answerLimitMs = 10_000;

export function createPollRequests(provider: PolledProvider, { onAnswer, onRoom, onPoll }: Listener): PollRequests {
  const inFlight = { answering: 0, hanging: 0 };
  let usualMs = 0;
  return {
    isFull: () => inFlight.answering >= maxInFlight,
    send: async (jobs) => {
      const poll: Poll = { jobs, sentAt: performance.now(), isHanging: false };
      for (const one of jobs) one.awaits = poll;
      inFlight.answering += 1;
      const hanging = setTimeout(() => askAgain(poll), Math.max(hangsAfterMs, 2 * usualMs));
      const statuses = await statusesOf(provider, jobs);
      clearTimeout(hanging);
      inFlight[poll.isHanging ? 'hanging' : 'answering'] -= 1;
      const isClear = statuses.some(({ state }) => state !== 'unclear');
      if (isClear) usualMs = 0.8 * usualMs + 0.2 * (performance.now() - poll.sentAt);
      if (!poll.isHanging) onPoll(isClear ? 'answered' : 'unclear');
      onAnswer(poll, statuses);
      onRoom();
    },
  };

  /** One job may be what the upstream hangs on, so they are asked about in two halves; one that hung alone is left to its limit. */
  function askAgain(poll: Poll): void {
    const jobs = poll.jobs.filter((one) => !one.isOver && one.maxGroup > 0);
    if (inFlight.hanging >= maxHanging || jobs.length === 0) return;
    poll.isHanging = true;
    inFlight.answering -= 1;
    inFlight.hanging += 1;
    for (const one of jobs) {
      one.awaits = undefined;
      one.dueAt = performance.now();
      one.maxGroup = Math.floor(poll.jobs.length / 2);
    }
    onPoll('hung');
    onRoom();
  }
}

/** An error and silence tell nothing. */
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
