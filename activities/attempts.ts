import { attemptTouchMs } from '../src/stores/tasks.ts';

// The attempts at generations that run on this worker. One statement speaks for all of them, because hundreds run at a time.

/** The reason with which the signal of an attempt aborts when its task was ended elsewhere, such as by a cancellation. */
export class TaskEnded extends Error {
  override readonly name = 'TaskEnded';
}

export type AttemptsDeps = {
  /** Records that the attempts at these tasks are alive. */
  readonly touch: (taskIds: readonly string[]) => Promise<void>;
  /** Which of these tasks are final. */
  readonly listEnded: (taskIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The database did not take or give an answer; the next round tries again. */
  readonly onError: (error: unknown) => void;
};

export type Attempts = {
  /** Counts the attempt as alive until `stop`. Its start is recorded by the caller. */
  begin(taskId: string): { readonly signal: AbortSignal; stop(): void };
};

type Attempt = { readonly taskId: string; readonly ended: AbortController };

/** A cancelled task costs upstream until its attempt knows. */
const lookMs = 3_000;

export function createAttempts({ touch, listEnded, onError }: AttemptsDeps): Attempts {
  const attempts = new Set<Attempt>();
  const rounds = [
    { everyMs: attemptTouchMs, work: touch },
    { everyMs: lookMs, work: stopEnded },
  ];
  let timers: readonly NodeJS.Timeout[] = [];
  return {
    begin: (taskId) => {
      const attempt: Attempt = { taskId, ended: new AbortController() };
      attempts.add(attempt);
      if (timers.length === 0) timers = rounds.map(({ everyMs, work }) => setInterval(oneAtATime(work), everyMs));
      return { signal: attempt.ended.signal, stop: () => stop(attempt) };
    },
  };

  function stop(attempt: Attempt): void {
    attempts.delete(attempt);
    if (attempts.size > 0) return;
    for (const timer of timers) clearInterval(timer);
    timers = [];
  }

  async function stopEnded(taskIds: readonly string[]): Promise<void> {
    const finalTasks = await listEnded(taskIds);
    for (const { taskId, ended } of attempts) if (finalTasks.has(taskId)) ended.abort(new TaskEnded());
  }

  /** Works for all attempts of the moment, unless it is still at it. */
  function oneAtATime(work: (taskIds: readonly string[]) => Promise<void>): () => void {
    let isWorking = false;
    return () => {
      if (isWorking) return;
      isWorking = true;
      const taskIds = new Set([...attempts].map(({ taskId }) => taskId));
      void work([...taskIds])
        .catch(onError)
        .finally(() => (isWorking = false));
    };
  }
}
