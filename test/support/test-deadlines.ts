import type { StartDeadline } from '../../activities/abort-timers.ts';

export type TestDeadlines = {
  readonly startDeadline: StartDeadline;
  /** Attempts that run now. */
  running(): number;
  /** Ends the time of every attempt that runs now. Returns how many there were. */
  pass(): number;
};

/** Deadlines that pass when the test calls `pass`, never by the clock. Without time left, one has passed when it starts. */
export function createTestDeadlines(): TestDeadlines {
  const running = new Set<() => void>();
  return {
    startDeadline: (leftMs) => {
      const passed = new AbortController();
      const pass = () => {
        running.delete(pass);
        passed.abort();
      };
      if (leftMs <= 0) pass();
      else running.add(pass);
      return { signal: passed.signal, stop: () => void running.delete(pass) };
    },
    running: () => running.size,
    pass: () => {
      const all = [...running];
      for (const pass of all) pass();
      return all.length;
    },
  };
}
