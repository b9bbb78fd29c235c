import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { withDefaults } from '../../src/domain/task-input.ts';
import type {
  FrozenConfig,
  Job,
  JobRequest,
  JobStatus,
  PolledProvider,
  Provider,
  SubmitOutcome,
} from '../../src/providers/contract.ts';
import { createComfyV2Provider } from '../../src/providers/comfy/comfy-v2-provider.ts';
import { createComfyuiProvider } from '../../src/providers/comfy/comfyui-provider.ts';
import { createHttpProvider } from '../../src/providers/http/http-provider.ts';
import type { DialectName } from '../../src/providers/openai-videos/dialects.ts';
import { createVideosProvider } from '../../src/providers/openai-videos/videos-provider.ts';
import { createOwnProvider } from '../../src/providers/own/own-provider.ts';
import { startArkUpstream } from '../fakes/ark.ts';
import { skipWithoutComfyProxy, startComfyProxy } from '../fakes/comfy-api-proxy.ts';
import { startFakeComfyui } from '../fakes/comfyui.ts';
import { isSampled } from '../fakes/kinds.ts';
import { skipWithoutPython, startExampleUpstream } from '../fakes/example-upstream.ts';
import { type Fault, type FaultName, type FaultProxy, faults, startFaultProxy } from '../fakes/fault-proxy.ts';
import { startOwnUpstream } from '../fakes/own-upstream.ts';
import { startScriptedUpstream } from '../fakes/scripted-http.ts';
import { startRestartableServer } from '../fakes/restartable-server.ts';
import { startVideosUpstream } from '../fakes/videos.ts';
import type { BookedState, RunningUpstream } from '../fakes/upstream-books.ts';
import { waitFor } from '../support/wait-for.ts';
import { arkProvider } from './ark/ark-stage.ts';
import { shippedFile } from './http/shipped-file.ts';
import { jobOf, jobRequest } from './job-request.ts';
import { clientFor } from './provider-client.ts';

// The same stories for every provider, told through a bad network, and judged by the books of its upstream: however an answer
// looks and wherever it is lost, a task has one job at most, and nothing is said about a job that is not so.

const key = 'test-key';

/** What its API has no request for, or no clear answer to. */
type Lack = 'look-up' | 'cancellation' | 'denial of a job';

type Upstream = {
  readonly name: string;
  /** As in test/fakes/kinds.ts, where the sample of the fast and the full tier is declared. */
  readonly kind: string;
  readonly skip?: false | string;
  readonly start: () => Promise<RunningUpstream>;
  readonly provider: (baseUrl: string) => Provider;
  /** The request that makes the job, among those that `submit` sends. */
  readonly isCreate: (request: { readonly method: string; readonly path: string }) => boolean;
  readonly lacks?: readonly Lack[];
  /** Its jobs are in its memory and die with it, and their videos with them or not; another job is made for the task then. */
  readonly forgets?: 'jobs' | 'jobs and videos';
  /** It runs a name as often as it is sent. */
  readonly repeats?: true;
};

const own = (baseUrl: string) =>
  createOwnProvider({
    name: 'own',
    config: { kind: 'own', baseUrl, upstreamModel: 'model', options: {} },
    client: clientFor(baseUrl, key),
    pollsPerSecond: 14,
    submitTimeoutMs: 600_000,
    warn: () => undefined,
  });
const isPut = ({ method }: { readonly method: string }) => method === 'PUT';

/** One of the files that come with the kind `http`. */
function http(file: string, changes: Partial<Upstream> = {}): Upstream {
  const read = shippedFile(file);
  const provider = (baseUrl: string) =>
    createHttpProvider({
      name: file,
      config: { kind: 'http', baseUrl, upstreamModel: read.example.model, options: {} },
      file: read,
      client: clientFor(baseUrl, key),
      pollsPerSecond: 14,
      submitTimeoutMs: 600_000,
      warn: () => undefined,
    });
  const isCreate: Upstream['isCreate'] = ({ method, path }) => method === 'POST' && !path.endsWith('/cancel');
  return {
    name: `http, ${file}`,
    kind: file,
    start: () => startScriptedUpstream(read),
    provider,
    isCreate,
    ...changes,
  };
}

const common = { name: 'upstream', pollsPerSecond: 14, submitTimeoutMs: 600_000, warn: () => undefined };

function videos(kindName: string, dialect: DialectName, changes: Partial<Upstream>): Upstream {
  const provider = (root: string) => {
    const baseUrl = `${root}/v1`;
    const config = { kind: 'openai-videos', baseUrl, upstreamModel: 'model', options: { dialect } } as const;
    return createVideosProvider({ ...common, config, client: clientFor(baseUrl, key) });
  };
  const start = () => startVideosUpstream(dialect, key);
  return {
    name: `openai-videos, ${dialect}`,
    kind: kindName,
    start,
    provider,
    isCreate: ({ method }) => method === 'POST',
    ...changes,
  };
}

function comfy(kind: 'comfyui' | 'comfy-v2', baseUrl: string) {
  const workflow = {
    '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
    '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
  };
  const config: FrozenConfig = { kind, baseUrl, upstreamModel: 'model', options: {} };
  return { config, workflow: () => workflow, client: clientFor(baseUrl, key) };
}

const upstreams: readonly Upstream[] = [
  { name: 'own', kind: 'own', start: () => startOwnUpstream({ key }), provider: own, isCreate: isPut },
  {
    name: 'own, with the example server',
    kind: 'example',
    skip: skipWithoutPython,
    start: () => startExampleUpstream({ key }),
    provider: own,
    isCreate: isPut,
  },
  {
    name: 'ark',
    kind: 'ark',
    start: () => startArkUpstream({ key }),
    provider: (baseUrl) => arkProvider(baseUrl, { submitTimeoutMs: 600_000 }),
    isCreate: ({ method }) => method === 'POST',
  },
  http('kie', { lacks: ['look-up', 'cancellation'] }),
  http('fal-seedance', { lacks: ['look-up'] }),
  http('replicate-seedance'),
  http('openrouter', { lacks: ['look-up', 'cancellation'] }),
  http('minimax', { lacks: ['look-up', 'cancellation', 'denial of a job'] }),
  http('kling', { lacks: ['cancellation'] }),
  http('runway', { lacks: ['look-up'] }),
  videos('vllm', 'vllm-omni', { forgets: 'jobs and videos' }),
  videos('sglang', 'sglang', { forgets: 'jobs and videos', lacks: ['look-up', 'cancellation'] }),
  videos('openrouter-videos', 'openrouter', { lacks: ['look-up', 'cancellation'] }),
  {
    name: 'comfyui',
    kind: 'comfyui',
    start: startFakeComfyui,
    provider: (baseUrl) => createComfyuiProvider({ ...common, ...comfy('comfyui', baseUrl) }),
    isCreate: ({ path }) => path === '/prompt',
    forgets: 'jobs',
    repeats: true,
  },
  {
    name: 'comfy-v2',
    kind: 'comfy-v2',
    skip: skipWithoutComfyProxy,
    start: () => startComfyProxy(key),
    provider: (baseUrl) => createComfyV2Provider({ ...common, ...comfy('comfy-v2', baseUrl) }),
    isCreate: ({ method, path }) => method === 'POST' && path === '/api/v2/jobs',
  },
];

/** What the common rules make of each fault of a create. */
const expected: Record<FaultName, Partial<SubmitOutcome>> = {
  'passes a proxy': { kind: 'accepted' },
  'finds no listener': { kind: 'not_accepted', reason: 'unreachable' },
  'is cut before the upstream reads it': { kind: 'unknown' },
  'is cut after it was sent': { kind: 'unknown' },
  'is cut in the head of the answer': { kind: 'unknown' },
  'is cut in the body of the answer': { kind: 'unknown' },
  'is cut and arrives late': { kind: 'unknown' },
  'is sent twice by a proxy': { kind: 'accepted' },
  'gets 500 after its acceptance': { kind: 'unknown' },
  'gets 503 of a proxy after its acceptance': { kind: 'unknown' },
  'gets 408 after its acceptance': { kind: 'unknown' },
  'gets an HTML 502 after its acceptance': { kind: 'unknown' },
  'gets an HTML 502 before the upstream': { kind: 'unknown' },
  'gets an HTML 404 before the upstream': { kind: 'unknown' },
  'gets truncated JSON': { kind: 'unknown' },
  'gets JSON of another kind': { kind: 'unknown' },
  'gets an empty 200': { kind: 'unknown' },
  'gets its answer twice': { kind: 'accepted' },
  'gets a strange state': { kind: 'accepted' },
  'hangs before the upstream reads it': { kind: 'unknown' },
  'hangs after it was sent': { kind: 'unknown' },
  'meets a restart of the upstream': { kind: 'unknown' },
  'gets 429': { kind: 'not_accepted', reason: 'busy', retryAfterMs: 7_000 },
  'gets 401': { kind: 'not_accepted', reason: 'operator' },
  'gets 302 after its acceptance': { kind: 'unknown' },
  'gets a redirect': { kind: 'not_accepted', reason: 'operator' },
};

/** What a download can tell from a whole file; for a hanging one the client has a limit of its own. */
const breakingDownloads: readonly FaultName[] = [
  'is cut before the upstream reads it',
  'is cut in the head of the answer',
  'is cut in the body of the answer',
  'gets 500 after its acceptance',
  'gets an HTML 502 before the upstream',
  'gets an HTML 404 before the upstream',
  'gets JSON of another kind',
  'gets an empty 200',
  'gets its answer twice',
  'gets 429',
  'gets 401',
  'gets a redirect',
];

const named = Object.entries(faults) as readonly (readonly [FaultName, Fault])[]; // the names are the table's

// Each has an upstream of its own, so they may wait together.
describe('the provider', { concurrency: true }, () => {
  for (const upstream of upstreams.filter(({ kind }) => isSampled(kind, 'families')))
    describe(upstream.name, { skip: upstream.skip ?? false, concurrency: false }, () => playStories(upstream));
});

function playStories(upstream: Upstream): void {
  let running: RunningUpstream;
  before(async () => {
    running = await upstream.start();
  });
  after(() => running.close());

  for (const [name, fault] of named) {
    test(`a create that ${name} makes one job`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const request = jobRequest();
      const outcome = await under(proxy, fault, upstream.isCreate, async (signal) => {
        const submitted = await provider.submit(request, signal);
        assert.ok(proxy.met() <= 1, `${proxy.met()} create requests`);
        return submitted;
      });
      assert.deepEqual({ ...outcome, ...expected[name] }, outcome);
      if (outcome.kind === 'not_accepted') assert.deepEqual(await running.books.jobsFor(request.input.prompt), []);
      const job = await settled(provider, request, outcome);
      await proxy.release();
      if (job !== undefined) await running.books.end(job.id, 'succeeded');
      const made = await running.books.jobsFor(request.input.prompt);
      // Where jobs have no names, what the network does twice cannot be undone.
      const isTwice = fault.forwarded === 2 || (fault.forwarded === 'late' && upstream.repeats === true);
      const hasDied = upstream.forgets !== undefined && 'restarts' in fault;
      const limit = hasDied || (isTwice && (!provider.namesJobs || upstream.repeats === true)) ? 2 : 1;
      assert.ok(made.length <= limit, `${made.length} jobs`);
      if (hasDied) return assert.equal(made[0]?.state, 'failed');
      // Where jobs have no names, one that arrives after the last look stays unknown.
      if (fault.forwarded === 'late' && !provider.namesJobs) return;
      // Without a look-up the job of a lost answer is not known to us.
      if (job === undefined && lacks(upstream, 'look-up')) return assert.equal(outcome.kind, 'unknown');
      assert.equal(made.length > 0, job !== undefined);
      assert.equal(made.at(-1)?.id, job?.id);
    });

    // Of an upstream that forgets, the last story tells what a restart does.
    if (upstream.forgets !== undefined && 'restarts' in fault) continue;

    test(`a question that ${name} brings no wrong verdict`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const { job, state } = await begun(t, provider, running);
      for (const end of [undefined, 'succeeded'] as const) {
        if (end !== undefined) await running.books.end(job.id, end);
        const status = await under(proxy, fault, notCreate(upstream), (signal) => statusOf(provider, job, signal));
        assert.ok(isTrue(status, await state()), `${status.state}, and the books say ${await state()}`);
        assert.equal(verdictOf(await statusOf(provider, job)), verdicts[await state()]);
      }
    });

    test(`a look for a lost job that ${name} does not deny it`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const { request, job } = await begun(t, provider, running);
      if (lacks(upstream, 'look-up')) return assert.equal((await recover(provider, request)).kind, 'unknown');
      const found = await under(proxy, fault, notCreate(upstream), (signal) => recover(provider, request, signal));
      assert.ok(found.kind === 'later' || found.kind === 'found', found.kind);
      assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
    });

    test(`a cancellation that ${name} says only what is so`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const { job, state } = await begun(t, provider, running);
      if (lacks(upstream, 'cancellation')) return assert.equal(await provider.cancel(job, never), 'runs_on');
      const outcome = await under(proxy, fault, notCreate(upstream), (signal) => provider.cancel(job, signal));
      if (outcome === 'cancelled' || outcome === 'ended') assert.notEqual(await state(), 'running');
      const again = await provider.cancel(job, never);
      // A job that was cancelled may be forgotten, too.
      if (upstream.forgets !== undefined && again === 'ended') return assert.notEqual(await state(), 'running');
      assert.equal(await state(), again === 'runs_on' ? 'running' : again === 'cancelled' ? 'canceled' : 'failed');
    });
  }

  // Each waits a second before its second attempt; they may wait together.
  describe('a video', { concurrency: true }, () => {
    for (const name of breakingDownloads) {
      test(`whose download ${name} arrives whole, and without a second job`, async (t) => {
        await deliversUnder(t, faults[name], upstream, running);
      });
    }
  });

  if (upstream.forgets !== 'jobs and videos') {
    test('a video whose download meets a restart of the upstream arrives whole, and without a second job', async (t) => {
      await deliversUnder(t, faults['meets a restart of the upstream'], upstream, running);
    });
  }

  if (upstream.forgets !== undefined) {
    test('a job that a restart killed is missing, and it was not cancelled', async (t) => {
      const { provider } = await stage(t, upstream, running);
      const { job } = await begun(t, provider, running);
      await running.restart();
      // A connection from before the restart breaks first.
      const status = await waitFor('a verdict', async () => {
        const seen = await statusOf(provider, job);
        return seen.state === 'unclear' ? undefined : seen;
      });
      assert.deepEqual(status, { state: 'missing' });
      assert.notEqual(await provider.cancel(job, never), 'cancelled');
    });
  }

  test('an upstream that fetches reference images finds them at the links, in order', async (t) => {
    const { provider } = await stage(t, upstream, running);
    if (provider.images === 'file') return assert.equal(running.fetched?.length ?? 0, 0);
    const pictures = ['the first picture', 'the second'];
    const store = await startRestartableServer(async (request, response) => {
      response.end(pictures[Number(request.url?.slice('/media/'.length))]);
    });
    t.after(() => store.close());
    const imageLinks = pictures.map((_, index) => `http://${store.address}/media/${index}`);
    const input = withDefaults({ prompt: 'like @Image2', imageUrls: ['http://client/a', 'http://client/b'] });
    const outcome = await provider.submit(jobRequest({ input, imageLinks }), never);
    assert.equal(outcome.kind, 'accepted');
    assert.deepEqual(
      running.fetched?.map(({ link, bytes }) => [link, bytes.toString()]),
      imageLinks.map((link, index) => [link, pictures[index]]),
    );
  });

  test('a download that hangs ends with the signal', async (t) => {
    const { proxy, provider } = await stage(t, upstream, running);
    const { job } = await begun(t, provider, running);
    await running.books.end(job.id, 'succeeded');
    const reason = new Error('the deadline');
    const stop = new AbortController();
    await proxy.play(faults['hangs after it was sent'], notCreate(upstream));
    const downloading = provider.result(job, undefined, { workFolder: tmpdir(), signal: stop.signal });
    await Promise.all([
      assert.rejects(downloading, reason),
      waitFor('the fault', () => (proxy.met() > 0 ? true : undefined)).then(() => stop.abort(reason)),
    ]);
  });

  test('a job that never was is missing, and was certainly not created', async (t) => {
    const { provider } = await stage(t, upstream, running);
    const { job } = await begun(t, provider, running);
    const request = jobRequest();
    // The handle of a real job, with a name that is not.
    const handle = JSON.parse(JSON.stringify(job.handle).replaceAll(job.id, request.jobKey)) as Job['handle'];
    const status = await statusOf(provider, jobOf(request, request.jobKey, handle));
    if (lacks(upstream, 'denial of a job')) return assert.equal(status.state, 'unclear');
    assert.deepEqual(status, { state: 'missing' });
    if (provider.namesJobs) assert.deepEqual(await recover(provider, request), { kind: 'not_created' });
  });
}

const never = new AbortController().signal;

async function stage(t: TestContext, upstream: Upstream, running: RunningUpstream) {
  const proxy = await startFaultProxy(running);
  t.after(() => proxy.close());
  const provider = upstream.provider(proxy.baseUrl);
  assert.ok(provider.runs === 'upstream', 'held providers have stories of their own');
  return { proxy, provider };
}

function lacks(upstream: Upstream, what: Lack): boolean {
  return upstream.lacks?.includes(what) ?? false;
}

function notCreate({ isCreate }: Upstream): Upstream['isCreate'] {
  return (request) => !isCreate(request);
}

/** Works under the fault, and gives up what hangs; afterwards the network is well again. */
async function under<T>(
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

/** What the engine does about a create: asks again where no job exists, looks where one may, and never anything else. */
async function settled(
  provider: PolledProvider,
  request: JobRequest,
  outcome: SubmitOutcome,
): Promise<Job | undefined> {
  if (outcome.kind === 'accepted') return jobOf(request, outcome.id, outcome.handle);
  assert.notEqual(outcome.kind, 'refused');
  if (outcome.kind === 'unknown') {
    const first = await recover(provider, request);
    const found = first.kind === 'later' ? await recover(provider, request, never, tenMinutesMs) : first;
    if (found.kind === 'found') return jobOf(request, found.id, found.handle);
    assert.equal(found.kind, provider.namesJobs ? 'not_created' : 'unknown');
    if (found.kind !== 'not_created') return undefined;
  }
  return await settled(provider, request, await provider.submit(request, never));
}

const tenMinutesMs = 600_000;

async function recover(provider: PolledProvider, request: JobRequest, signal = never, ageMs = 0) {
  const lost = { ...request, intendedAt: Date.now() - ageMs, claimed: async () => new Set<string>(), rivals: 0 };
  return await provider.recover(lost, signal);
}

/** A job that runs, and what the books say of it. */
async function begun(t: TestContext, provider: PolledProvider, { books }: RunningUpstream) {
  const request = jobRequest();
  const outcome = await provider.submit(request, never);
  assert.ok(outcome.kind === 'accepted', outcome.kind);
  const job = jobOf(request, outcome.id, outcome.handle);
  t.after(() => books.end(job.id, 'failed'));
  const state = async () => {
    const [booked] = await books.jobsFor(request.input.prompt);
    assert.ok(booked);
    return booked.state;
  };
  return { request, job, state };
}

async function statusOf(provider: PolledProvider, job: Job, signal = never): Promise<JobStatus> {
  return (await provider.status([job], signal)).get(job.jobKey) ?? { state: 'unclear', detail: 'no entry' };
}

async function deliversUnder(
  t: TestContext,
  fault: Fault,
  upstream: Upstream,
  running: RunningUpstream,
): Promise<void> {
  const { proxy, provider } = await stage(t, upstream, running);
  const { request, job } = await begun(t, provider, running);
  await running.books.end(job.id, 'succeeded');
  const workFolder = await mkdtemp(join(tmpdir(), 'videogen-contract-'));
  t.after(() => rm(workFolder, { recursive: true }));
  await proxy.play(fault, notCreate(upstream));
  const [video] = await Promise.all([
    provider.result(job, undefined, { workFolder, signal: never }),
    waitFor('the fault', () => (proxy.met() > 0 ? true : undefined)).then(() => proxy.heal()),
  ]);
  assert.deepEqual(await readFile(video.path), await readFile(running.videoPath));
  assert.equal((await running.books.jobsFor(request.input.prompt)).length, 1);
}

const verdicts: Record<BookedState, JobStatus['state']> = {
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
};

/** A job in a queue is on its way, too. */
function verdictOf({ state }: JobStatus): JobStatus['state'] {
  return state === 'queued' ? 'running' : state;
}

/** "It runs" may be old news, and no verdict is never wrong. */
function isTrue({ state }: JobStatus, booked: BookedState): boolean {
  return state === 'running' || state === 'queued' || state === 'unclear' || state === verdicts[booked];
}
