// A FAKE: the books of an upstream that does not exist. They hold what it really did, whatever its responses were and
// arrived, so tests count here how often a task was paid for.

export type BookedState = 'running' | 'succeeded' | 'failed' | 'canceled';
export type BookedJob = { readonly id: string; readonly prompt: string; readonly state: BookedState };

export type UpstreamBooks = {
  /** Every job that was ever begun, in order. */
  jobs(): Promise<readonly BookedJob[]>;
  /** Those that were begun with this prompt; tests give each task a prompt of its own. */
  jobsFor(prompt: string): Promise<readonly BookedJob[]>;
  /** Ends a running job with a video, or without one. */
  end(id: string, state: 'succeeded' | 'failed'): Promise<void>;
};

export type FetchedImage = { readonly link: string; readonly bytes: Buffer };

/** An upstream that tests run for themselves. */
export type RunningUpstream = {
  /** host:port */
  readonly address: string;
  readonly books: UpstreamBooks;
  /** The file that every job delivers. */
  readonly videoPath: string;
  /** True when it takes another job now. An upstream without this always does. */
  isIdle?(): Promise<boolean>;
  /** The reference images that it has fetched by their links, in order. */
  readonly fetched?: readonly FetchedImage[];
  /** Dies without a word, as in `kill -9`, and starts again at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

/** The books of a fake in this process, which it writes itself. */
export type OwnBooks = UpstreamBooks & {
  begin(job: Omit<BookedJob, 'state'>): void;
  /** The newest of that name. */
  find(id: string): BookedJob | undefined;
  cancel(id: string): void;
};

export function createBooks(): OwnBooks {
  const jobs: { id: string; prompt: string; state: BookedState }[] = [];
  const running = (id: string) => jobs.find((job) => job.id === id && job.state === 'running');
  const close = (id: string, state: BookedState) => {
    const job = running(id);
    if (job !== undefined) job.state = state;
  };
  return {
    begin: (job) => void jobs.push({ ...job, state: 'running' }),
    find: (id) => jobs.findLast((job) => job.id === id),
    cancel: (id) => close(id, 'canceled'),
    end: async (id, state) => close(id, state),
    jobs: async () => jobs.map((job) => ({ ...job })),
    jobsFor: async (prompt) => jobs.filter((job) => job.prompt === prompt),
  };
}
