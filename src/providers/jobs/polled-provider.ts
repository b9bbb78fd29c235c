import {
  type FrozenConfig,
  type Job,
  type JobStatus,
  type PolledProvider,
  type UpstreamClient,
  VideoLostError,
  type Warn,
} from '../provider-contract.ts';
import { downloadResult } from '../download-result.ts';

export type PolledProviderDeps = {
  readonly name: string;
  /** The adapter of the kind defines its `options`. */
  readonly config: FrozenConfig;
  readonly client: UpstreamClient;
  readonly pollsPerSecond: number;
  readonly submitTimeoutMs: number;
  readonly warn: Warn;
};

/** The timeouts of an adapter's requests; that of a create is a setting. */
export const requestTimeoutsAfterCreate = { recoverMs: 30_000, statusMs: 10_000, cancelMs: 15_000 } as const;

/** A job is lost after this many answers in a row; the pauses of `downloadResult` put six seconds between the first and the last. */
const lostAfterMissing = 3;

/** The part of a provider that differs from kind to kind. */
export type UpstreamApi = Pick<PolledProvider, 'namesJobs' | 'forgetsJobs' | 'submit' | 'recover' | 'cancel'> &
  Partial<Pick<PolledProvider, 'images' | 'clips' | 'uploads' | 'minPollMs'>> & {
    /** Reads one job. The `result` of a job that succeeded is `{ url }`, the address of its video. */
    readonly statusOf: (job: Job, signal: AbortSignal) => Promise<JobStatus>;
    /** Reads many jobs in one request; without it each job has a request of its own. */
    readonly batch?: { readonly max: number } & Pick<PolledProvider, 'status'>;
  };

export function createPolledProvider(
  { name, config, client, pollsPerSecond, submitTimeoutMs, warn }: PolledProviderDeps,
  { statusOf, batch, ...api }: UpstreamApi,
): PolledProvider {
  return {
    images: 'file',
    minPollMs: 500,
    ...api,
    name,
    config,
    runs: 'upstream',
    maxBatch: batch?.max ?? 1,
    maxPollsPerSecond: pollsPerSecond,
    submitTimeoutMs,
    status: async (jobs, signal) => {
      if (batch !== undefined) return await batch.status(jobs, signal);
      const read = jobs.map(async (job) => [job.jobKey, await statusOf(job, signal)] as const);
      return new Map(await Promise.all(read));
    },
    result: async (job, known, to) => {
      let next: JobStatus | undefined = known && { state: 'succeeded', result: known };
      let missing = 0;
      const freshUrl = async (signal: AbortSignal) => {
        const status = next ?? (await statusOf(job, signal));
        next = undefined;
        const url = status.state === 'succeeded' ? status.result?.['url'] : undefined;
        missing = status.state === 'missing' ? missing + 1 : 0;
        if (typeof url === 'string') return url;
        if (api.forgetsJobs && missing >= lostAfterMissing) throw new VideoLostError('the upstream has lost the job');
        throw new Error(status.state === 'unclear' ? status.detail : 'the job has no video');
      };
      return await downloadResult(client, freshUrl, to, warn);
    },
  };
}

/** Starts the time of a create, which its uploads and last request share. The returned function returns what is left. */
export function startSubmitCountdown(submitTimeoutMs: number): () => number {
  const endsAt = performance.now() + submitTimeoutMs;
  return () => Math.max(1, Math.round(endsAt - performance.now()));
}
