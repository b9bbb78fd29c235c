import type {
  CancelOutcome,
  FrozenConfig,
  Job,
  JobRequest,
  JobStatus,
  LostCall,
  PolledProvider,
  RecoverOutcome,
  SubmitOutcome,
  UpstreamClient,
  Warn,
} from './contract.ts';
import { downloadResult } from './download-result.ts';

/** The dependencies of every provider whose jobs run upstream. */
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
export const timeouts = { recoverMs: 30_000, statusMs: 10_000, cancelMs: 15_000 } as const;

type Traits = Pick<PolledProvider, 'namesJobs' | 'forgetsJobs'> &
  Partial<Pick<PolledProvider, 'images' | 'clips' | 'uploads' | 'minPollMs'>>;

/** The part of a provider that differs from kind to kind. */
export type UpstreamAdapter = Traits & {
  submit(request: JobRequest, signal: AbortSignal): Promise<SubmitOutcome>;
  recover(call: LostCall, signal: AbortSignal): Promise<RecoverOutcome>;
  /** Reads one job. The `result` of a job that succeeded is `{ url }`, the address of its video. */
  statusOf(job: Job, signal: AbortSignal): Promise<JobStatus>;
  /** Reads many jobs in one request; without it each job has a request of its own. */
  readonly batch?: {
    readonly max: number;
    statusOfAll(jobs: readonly Job[], signal: AbortSignal): Promise<ReadonlyMap<string, JobStatus>>;
  };
  cancel(job: Job, signal: AbortSignal): Promise<CancelOutcome>;
};

export function createPolledProvider(
  { name, config, client, pollsPerSecond, warn }: PolledProviderDeps,
  adapter: UpstreamAdapter,
): PolledProvider {
  const { batch, images = 'file', clips = 'file', minPollMs = 500, namesJobs, forgetsJobs, uploads = false } = adapter;
  return {
    name,
    config,
    runs: 'upstream',
    namesJobs,
    forgetsJobs,
    images,
    clips,
    uploads,
    maxBatch: batch?.max ?? 1,
    minPollMs,
    maxPollsPerSecond: pollsPerSecond,
    submit: (request, signal) => adapter.submit(request, signal),
    recover: (call, signal) => adapter.recover(call, signal),
    status: async (jobs, signal) => {
      if (batch !== undefined) return await batch.statusOfAll(jobs, signal);
      const read = jobs.map(async (job) => [job.jobKey, await adapter.statusOf(job, signal)] as const);
      return new Map(await Promise.all(read));
    },
    result: async (job, known, to) => {
      let first = known?.['url'];
      const freshUrl = async (signal: AbortSignal) => {
        const url = first ?? (await readUrl(adapter, job, signal));
        first = undefined;
        if (typeof url === 'string') return url;
        throw new Error('the job has no video');
      };
      return await downloadResult(client, freshUrl, to, warn);
    },
    cancel: (job, signal) => adapter.cancel(job, signal),
  };
}

async function readUrl(adapter: UpstreamAdapter, job: Job, signal: AbortSignal) {
  const status = await adapter.statusOf(job, signal);
  return status.state === 'succeeded' ? status.result?.['url'] : undefined;
}
