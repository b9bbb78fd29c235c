export type SharedPoll<Watcher> = {
  readonly watchers: ReadonlySet<Watcher>;
  /** Polls for the watcher until the returned function is called. */
  readonly watch: (watcher: Watcher) => () => void;
  /** Polls now, or returns the call in flight. */
  readonly run: () => Promise<void>;
};

export type PollSettings<Watcher> = {
  readonly everyMs: number;
  /** One call for all watchers. */
  readonly poll: (watchers: ReadonlySet<Watcher>) => Promise<void>;
  /** A failed call is reported once, however many callers wait for it. */
  readonly onError: (error: unknown) => void;
};

/** Polls at an interval while it has watchers, one call at a time. Does not keep the process alive. */
export function createSharedPoll<Watcher>({ everyMs, poll, onError }: PollSettings<Watcher>): SharedPoll<Watcher> {
  const watchers = new Set<Watcher>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const pollOnce = async () => {
    try {
      await poll(watchers);
    } catch (error) {
      onError(error);
      throw error;
    }
  };
  const run = () => (running ??= pollOnce().finally(() => (running = undefined)));
  return {
    watchers,
    run,
    watch: (watcher) => {
      watchers.add(watcher);
      timer ??= setInterval(() => void run().catch(() => {}), everyMs).unref();
      return () => {
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}
