export type PollSettings<Watcher> = {
  readonly everyMs: number;
  /** One call for all watchers. */
  readonly poll: (watchers: ReadonlySet<Watcher>) => Promise<void>;
  /** A failed call is reported once, however many callers wait for it. */
  readonly onError: (error: unknown) => void;
};

/** Polls at an interval while it has watchers, one call at a time. Does not keep the process alive. */
export function createSharedPoll<Watcher>({ everyMs, poll, onError }: PollSettings<Watcher>) {
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
  /** Polls now, or returns the call in flight. */
  const run = (): Promise<void> => (running ??= pollOnce().finally(() => (running = undefined)));
  return {
    watchers: watchers as ReadonlySet<Watcher>,
    run,
    /** Polls for the watcher until the returned function is called. */
    watch: (watcher: Watcher) => {
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
