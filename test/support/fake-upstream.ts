import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TaskFault } from '../../src/domain/errors.ts';
import { copyInstantClip } from '../../src/providers/preview/preview-provider.ts';
import type { GeneratedVideo, Provider, RecoveredJob } from '../../src/providers/provider.ts';

// A FAKE: no service of this kind exists. It keeps the books that a paid upstream would keep, so that tests can count the
// jobs that a task has cost.

export type FakeJob = { readonly jobId: string; readonly taskId: string; state: 'running' | 'done' | 'cancelled' };

export type FakeUpstream = {
  readonly provider: Provider;
  /** Every job that was ever made, in order. */
  readonly jobs: FakeJob[];
  /** Task ids in the order in which generation asked for them. */
  readonly asked: readonly string[];
  /** Lets the running jobs, or those of one task, end in success. */
  finish(taskId?: string): void;
  /** Lets every job end in success for as long as `work` goes on. */
  whileFinishing<T>(work: () => Promise<T>): Promise<T>;
};

export type FakeOptions = {
  readonly name?: string;
  /** Whether a job is done the moment it is made; true by default. */
  readonly instant?: boolean;
  /** Whether a poster comes with each video; true by default. */
  readonly hasPosters?: boolean;
  /** The job is made, and the answer to that never arrives. */
  readonly losesAnswers?: boolean;
  /** What the upstream says about a lost call; by default it knows. */
  readonly recover?: (job: FakeJob | undefined) => RecoveredJob;
  /** Thrown by `follow`. */
  readonly fault?: () => TaskFault;
};

export function createFakeUpstream(options: FakeOptions = {}): FakeUpstream {
  const { name = 'preview', instant = true, hasPosters = true } = options;
  const jobs: FakeJob[] = [];
  const asked: string[] = [];
  const jobOf = (jobId: string) => jobs.find((job) => job.jobId === jobId);
  const delivered = async (folder: string): Promise<GeneratedVideo> => {
    const { path, posterPath } = await copyInstantClip(folder);
    return hasPosters ? { path, posterPath } : { path };
  };
  const provider: Provider = {
    name,
    submit: async ({ taskId }) => {
      asked.push(taskId);
      const job: FakeJob = { jobId: `${name}-${jobs.length + 1}`, taskId, state: instant ? 'done' : 'running' };
      jobs.push(job);
      if (options.losesAnswers === true) throw new Error('socket hang up');
      return job.jobId;
    },
    recover: async ({ taskId }) => {
      const job = jobs.find((one) => one.taskId === taskId);
      if (options.recover !== undefined) return options.recover(job);
      return job === undefined ? { kind: 'not_created' } : { kind: 'found', jobId: job.jobId };
    },
    follow: async (jobId, { workFolder }, report, signal) => {
      if (options.fault !== undefined) throw options.fault();
      while (jobOf(jobId)?.state === 'running') await tick(signal);
      signal.throwIfAborted();
      if (jobOf(jobId)?.state !== 'done') throw new TaskFault('provider_rejected', 'The job was cancelled upstream.');
      report(100);
      return delivered(workFolder);
    },
    result: async (jobId) => {
      if (jobOf(jobId)?.state !== 'done') return undefined;
      return delivered(await mkdtemp(join(tmpdir(), 'videogen-fake-')));
    },
    cancel: async (jobId) => {
      const job = jobOf(jobId);
      if (job?.state === 'running') job.state = 'cancelled';
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

async function tick(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise((resolve) => {
    setTimeout(resolve, 10);
  });
  signal.throwIfAborted();
}
