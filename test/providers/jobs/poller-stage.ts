import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Job, JobStatus, PolledProvider } from '../../../src/providers/provider-contract.ts';
import { createOwnProvider } from '../../../src/providers/own/own-provider.ts';
import { createSharedJobPoller, createPollReservations } from '../../../src/providers/jobs/shared-job-poller.ts';
import { providerDeps } from '../loopback-client.ts';
import { jobOf, jobRequest } from '../contract/job-request.ts';

// A poller with an upstream whose responses the test scripts. Time stands still but for `pass`.

type Request = { readonly at: number; readonly ids: readonly string[] };
type Script = (request: Request & { readonly signal: AbortSignal }) => Promise<Record<string, JobStatus>>;
type Traits = Partial<Pick<PolledProvider, 'maxBatch' | 'minPollMs' | 'maxPollsPerSecond' | 'forgetsJobs'>>;

export const running: JobStatus = { state: 'running' };
export const succeeded: JobStatus = { state: 'succeeded' };
export const unclear: JobStatus = { state: 'unclear', detail: 'HTTP 502' };
export const missing: JobStatus = { state: 'missing' };
export const forever = new Promise<never>(() => undefined);

/** By default all jobs run. */
export const allRun: Script = async ({ ids }) => says(ids, () => running);

export function says(ids: readonly string[], status: (id: string) => JobStatus): Record<string, JobStatus> {
  return Object.fromEntries(ids.map((id) => [id, status(id)]));
}

export function stage(t: TestContext, traits: Traits = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 });
  t.mock.method(performance, 'now', () => Date.now());
  const requests: Request[] = [];
  const outcomes: string[] = [];
  const warnings: string[] = [];
  let script = allRun;
  let open = 0;
  let mostOpen = 0;
  const base = createOwnProvider(providerDeps({ kind: 'own', baseUrl: 'http://own.example' }));
  const status: PolledProvider['status'] = async (jobs, signal) => {
    const request = { at: Date.now(), ids: jobs.map(({ id }) => id) };
    requests.push(request);
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    try {
      const cut = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))));
      const said = await Promise.race([script({ ...request, signal }), cut]);
      return new Map(jobs.flatMap(({ id, jobKey }) => (said[id] === undefined ? [] : [[jobKey, said[id]]])));
    } finally {
      open -= 1;
    }
  };
  const provider = { ...base, maxBatch: 100, forgetsJobs: false, ...traits, status };
  const poller = createSharedJobPoller({
    provider,
    reservePollTime: createPollReservations(),
    warn: (event, detail) => warnings.push(`${event}: ${detail}`),
    onPoll: (outcome) => outcomes.push(outcome),
  });
  const ends = new Map<string, { readonly at: number; readonly state: string }>();
  const progress: number[] = [];
  const follow = (id: string, { ageMs = 1000, signal = new AbortController().signal } = {}) => {
    const job: Job = jobOf(jobRequest(), id);
    const note = (state: string) => ends.set(id, { at: Date.now(), state });
    poller.follow(job, { ageMs, onProgress: (next) => progress.push(next), signal }).then(
      ({ state }) => note(state),
      (error: unknown) => note(String(error)),
    );
    return job;
  };
  return {
    poller,
    follow,
    followMany: (count: number) => Array.from({ length: count }, (_, index) => follow(`job-${index}`)),
    say: (next: Script) => (script = next),
    ends,
    progress,
    outcomes,
    warnings,
    mostOpen: () => mostOpen,
    /** The requests since the last call. */
    asked: () => requests.splice(0),
    pass: async (ms: number) => {
      for (let left = ms; left > 0; left -= 10) {
        t.mock.timers.tick(Math.min(10, left));
        await turn();
      }
    },
  };
}

/** When each request about the job was sent, in seconds. */
export function secondsOf(requests: readonly Request[], id: string): readonly number[] {
  return requests.filter(({ ids }) => ids.includes(id)).map(({ at }) => Math.round(at / 100) / 10);
}

/** The most requests within any second. */
export function mostInASecond(requests: readonly Pick<Request, 'at'>[]): number {
  return Math.max(...requests.map(({ at }) => requests.filter((one) => one.at >= at && one.at < at + 1000).length));
}

export async function after(ms: number, said: Record<string, JobStatus>): Promise<Record<string, JobStatus>> {
  return await new Promise((resolve) => setTimeout(() => resolve(said), ms));
}
