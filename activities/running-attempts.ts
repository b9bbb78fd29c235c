import { createSharedPoll } from '../src/platform/timing/shared-poll.ts';
import { attemptTouchMs } from '../src/tasks/task-rows.ts';

// The attempts at generations that run on this worker. One statement serves all of them, because hundreds run at a time.

/** The reason with which the signal of an attempt aborts when its task has ended without it, such as by a cancellation. */
export class TaskEndedAbortReason extends Error {
  override readonly name = 'TaskEndedAbortReason';
}

type GenerationAttemptsDeps = {
  /** Records that the attempts at these tasks are alive. */
  readonly touch: (taskIds: readonly string[]) => Promise<void>;
  readonly listEnded: (taskIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** A statement failed; the next poll repeats it. */
  readonly onError: (error: unknown) => void;
};

export type RunningAttempts = {
  /** Counts the attempt as alive until `stop`. The caller records its start. */
  begin(taskId: string): { readonly signal: AbortSignal; stop(): void };
};

type Attempt = { readonly taskId: string; readonly ended: AbortController };

/** A cancelled task costs upstream until its attempt is stopped. */
export const endedPollMs = 3_000;

export function createRunningAttempts({ touch, listEnded, onError }: GenerationAttemptsDeps): RunningAttempts {
  const polls = [
    createSharedPoll<Attempt>({ everyMs: attemptTouchMs, poll: (attempts) => touch(taskIdsOf(attempts)), onError }),
    createSharedPoll<Attempt>({
      everyMs: endedPollMs,
      poll: async (attempts) => {
        const endedIds = await listEnded(taskIdsOf(attempts));
        for (const { taskId, ended } of attempts) if (endedIds.has(taskId)) ended.abort(new TaskEndedAbortReason());
      },
      onError,
    }),
  ];
  return {
    begin: (taskId) => {
      const attempt: Attempt = { taskId, ended: new AbortController() };
      const stops = polls.map((poll) => poll.watch(attempt));
      return { signal: attempt.ended.signal, stop: () => stops.forEach((stop) => stop()) };
    },
  };
}

function taskIdsOf(attempts: ReadonlySet<Attempt>): readonly string[] {
  return [...new Set([...attempts].map(({ taskId }) => taskId))];
}
