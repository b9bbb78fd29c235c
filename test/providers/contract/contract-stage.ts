import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import type {
  Job,
  JobRequest,
  JobStatus,
  PolledProvider,
  SubmitOutcome,
} from '../../../src/providers/provider-contract.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../../fakes/fault-proxy.ts';
import type { BookedState, RunningUpstream } from '../../fakes/upstream-books.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { Lack, Upstream } from './contract-upstreams.ts';
import { begun, jobOf, lostCall, signal } from './job-request.ts';

// The steps of the contract's tests: a provider behind a bad network, and what the engine does with its outcomes.

export async function stage(t: TestContext, upstream: Upstream, running: RunningUpstream) {
  const proxy = await startFaultProxy(running);
  t.after(() => proxy.close());
  return { proxy, provider: upstream.provider(proxy.baseUrl) };
}

export function lacks(upstream: Upstream, what: Lack): boolean {
  return upstream.lacks.includes(what);
}

export function notCreate({ isCreate }: Upstream): Upstream['isCreate'] {
  return (request) => !isCreate(request);
}

/** Works under the fault, and aborts what hangs; afterwards the network works again. */
export async function under<T>(
  proxy: FaultProxy,
  fault: Fault,
  matches: Upstream['isCreate'],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  await proxy.play(fault, matches);
  const working = work(stop.signal);
  if (fault.reply === 'never') {
    await waitFor('the request', () => (proxy.met() > 0 ? true : undefined));
    stop.abort();
  }
  const done = await working;
  await proxy.heal();
  return done;
}

/** What the engine does after a create: repeats it where no job exists, and looks the job up where one may. */
export async function settled(
  provider: PolledProvider,
  request: JobRequest,
  outcome: SubmitOutcome,
): Promise<Job | undefined> {
  if (outcome.kind === 'accepted') return jobOf(request, outcome.id, outcome.handle);
  assert.notEqual(outcome.kind, 'refused');
  if (outcome.kind === 'unknown') {
    const first = await recover(provider, request);
    const found = first.kind === 'later' ? await recover(provider, request, signal, tenMinutesMs) : first;
    if (found.kind === 'found') return jobOf(request, found.id, found.handle);
    assert.equal(found.kind, provider.namesJobs ? 'not_created' : 'unknown');
    if (found.kind !== 'not_created') return undefined;
  }
  return await settled(provider, request, await provider.submit(request, signal));
}

const tenMinutesMs = 600_000;

export async function recover(provider: PolledProvider, request: JobRequest, until = signal, ageMs = 0) {
  return await provider.recover(lostCall(request, { intendedAt: Date.now() - ageMs }), until);
}

/** A job that runs, and its state in the books. */
export async function bookedJob(t: TestContext, provider: PolledProvider, { books }: RunningUpstream) {
  const { request, job } = await begun(provider);
  t.after(() => books.end(job.id, 'failed'));
  const state = async () => {
    const [found] = await books.jobsFor(request.input.prompt);
    assert.ok(found);
    return found.state;
  };
  return { request, job, state };
}

export async function deliversUnder(
  t: TestContext,
  fault: Fault,
  upstream: Upstream,
  running: RunningUpstream,
): Promise<void> {
  const { proxy, provider } = await stage(t, upstream, running);
  const { request, job } = await bookedJob(t, provider, running);
  await running.books.end(job.id, 'succeeded');
  const workFolder = await temporaryFolder(t);
  await proxy.play(fault, notCreate(upstream));
  const [video] = await Promise.all([
    provider.result(job, undefined, { workFolder, signal }),
    waitFor('the fault', () => (proxy.met() > 0 ? true : undefined)).then(() => proxy.heal()),
  ]);
  assert.deepEqual(await readFile(video.path), await readFile(running.videoPath));
  assert.equal((await running.books.jobsFor(request.input.prompt)).length, 1);
}

export const verdicts: Record<BookedState, JobStatus['state']> = {
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
};

/** A job in a queue is on its way, too. */
export function verdictOf({ state }: JobStatus): JobStatus['state'] {
  return state === 'queued' ? 'running' : state;
}

/** "It runs" may be old news, and no verdict is never wrong. */
export function isTrue({ state }: JobStatus, booked: BookedState): boolean {
  return state === 'running' || state === 'queued' || state === 'unclear' || state === verdicts[booked];
}
