import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import {
  type Cost,
  type UpstreamErrorReason,
  type JobStatus,
  type PolledProvider,
  type RecoverOutcome,
  type SubmitOutcome,
  VideoLostError,
} from '../../../src/providers/provider-contract.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';

// A FAKE: no service of this kind exists. It keeps the books that a paid upstream would keep, so that tests can count the
// jobs that a task has cost.

export type FakeJob = {
  readonly jobId: string;
  readonly jobKey: string;
  readonly taskId: string;
  state: 'running' | 'done' | 'cancelled';
};

export type FakeUpstream = {
  readonly provider: PolledProvider;
  /** Every job that was ever made, in order. */
  readonly jobs: FakeJob[];
  /** Task ids in the order of their creates. */
  readonly asked: readonly string[];
  /** Lets the running jobs, or those of one task, end in success. */
  finish(taskId?: string): void;
  /** Lets every job end in success for as long as `work` goes on. */
  whileFinishing<T>(work: () => Promise<T>): Promise<T>;
};

export type FakeOptions = {
  readonly name?: string;
  /** A job is done as soon as it is made; true by default. */
  readonly instant?: boolean;
  /** Of every running job, 0 to 100; none by default. */
  readonly progress?: number;
  /** The job is made, and the answer to that never arrives. */
  readonly losesAnswers?: boolean;
  /** Returns the refusal of a create, or undefined for one that makes a job. */
  readonly declines?: () => Exclude<SubmitOutcome, { kind: 'accepted' }> | undefined;
  /** Looks a lost create up; by default the upstream finds it. */
  readonly recover?: (job: FakeJob | undefined) => RecoverOutcome;
  /** The error of each job, or of some by their number, which counts from 1. */
  readonly fault?: UpstreamErrorReason | ((number: number) => UpstreamErrorReason | undefined);
  /** It reports this cost for a failed job; none by default. */
  readonly costOfFailure?: Cost;
  /** Reference images reach it as files by default. */
  readonly images?: PolledProvider['images'];
  /** It loses every job that it has accepted, as by a restart. */
  readonly forgets?: boolean;
  /** It loses the videos of so many jobs, the first ones, after they have succeeded. */
  readonly lostVideos?: number;
};

/** Short intervals, so that tests do not wait. */
const traits = { maxBatch: 10, minPollMs: 5, maxPollsPerSecond: 100, submitTimeoutMs: 60_000 } as const;

export function createFakeUpstream(options: FakeOptions = {}): FakeUpstream {
  const { name = 'fake', instant = true, progress, fault, lostVideos = 0 } = options;
  const jobs: FakeJob[] = [];
  const asked: string[] = [];
  const jobOf = (jobKey: string) => jobs.find((job) => job.jobKey === jobKey);
  const statusOf = (job: FakeJob | undefined): JobStatus => {
    if (job === undefined || options.forgets === true) return { state: 'missing' };
    if (job.state === 'running') return { state: 'running', ...(progress !== undefined && { progress }) };
    if (job.state === 'cancelled') return { state: 'failed', error: { kind: 'upstream', detail: 'it was cancelled' } };
    const error = typeof fault === 'function' ? fault(1 + jobs.indexOf(job)) : fault;
    if (error === undefined) return { state: 'succeeded' };
    return { state: 'failed', error, ...(options.costOfFailure && { cost: options.costOfFailure }) };
  };
  const provider: PolledProvider = {
    ...traits,
    name,
    config: { kind: 'own', baseUrl: `http://${name}.example`, upstreamModel: 'model', options: {} },
    runs: 'upstream',
    namesJobs: true,
    forgetsJobs: true,
    images: options.images ?? 'file',
    submit: async ({ taskId, jobKey }) => {
      asked.push(taskId);
      const declined = options.declines?.();
      if (declined !== undefined) return declined;
      const job: FakeJob = { jobId: `${name}-${jobs.length + 1}`, jobKey, taskId, state: instant ? 'done' : 'running' };
      jobs.push(job);
      if (options.losesAnswers === true) throw new Error('socket hang up');
      return { kind: 'accepted', id: job.jobId };
    },
    recover: async ({ jobKey }) => {
      const job = jobOf(jobKey);
      if (options.recover !== undefined) return options.recover(job);
      return job === undefined ? { kind: 'not_created' } : { kind: 'found', id: job.jobId };
    },
    status: async (asking) => new Map(asking.map(({ jobKey }) => [jobKey, statusOf(jobOf(jobKey))])),
    result: async ({ jobKey }, _known, { workFolder, signal }) => {
      signal.throwIfAborted();
      const job = jobOf(jobKey);
      if (job !== undefined && jobs.indexOf(job) < lostVideos)
        throw new VideoLostError('the upstream has lost the job');
      if (job?.state !== 'done') throw new TaskError('internal', 'There is no video.');
      return await copyInstantClip(workFolder);
    },
    cancel: async ({ jobKey }) => {
      const job = jobOf(jobKey);
      if (job?.state !== 'running') return 'ended';
      job.state = 'cancelled';
      return 'cancelled';
    },
  };
  const finish = (taskId?: string) => {
    for (const job of jobs) if (job.state === 'running' && (taskId ?? job.taskId) === job.taskId) job.state = 'done';
  };
  return {
    provider,
    jobs,
    asked,
    finish,
    whileFinishing: async (work) => {
      const finishing = setInterval(finish, 5);
      try {
        return await work();
      } finally {
        clearInterval(finishing);
      }
    },
  };
}
