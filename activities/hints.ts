import type { HintedCall } from '../src/domain/hook-link.ts';

// Upstreams announce changes of jobs to the API; this worker asks the database for those of the jobs that it follows.

export type HintsDeps = {
  /** Takes the hints that wait for jobs of these tasks. */
  readonly take: (taskIds: readonly string[]) => Promise<readonly HintedCall[]>;
  /** The database gave no answer; the jobs are polled meanwhile. */
  readonly onError: (error: unknown) => void;
};

export type Hints = {
  /** Calls `onHint` soon after each announcement about the job, until `stop`. */
  readonly watch: (call: HintedCall, onHint: () => void) => { readonly stop: () => void };
};

const lookMs = 500;

export function createHints({ take, onError }: HintsDeps): Hints {
  type Watch = HintedCall & { readonly onHint: () => void };
  const watches = new Set<Watch>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const hinted = await take([...new Set([...watches].map(({ taskId }) => taskId))]);
      const calls = new Set(hinted.map(keyOf));
      for (const watch of watches) if (calls.has(keyOf(watch))) watch.onHint();
    } catch (error) {
      onError(error);
    } finally {
      isLooking = false;
    }
  };
  return {
    watch: ({ taskId, ordinal }, onHint) => {
      const watch: Watch = { taskId, ordinal, onHint };
      watches.add(watch);
      timer ??= setInterval(() => void look(), lookMs);
      const stop = () => {
        watches.delete(watch);
        if (watches.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
      return { stop };
    },
  };
}

function keyOf({ taskId, ordinal }: HintedCall): string {
  return `${taskId}.${ordinal}`;
}
