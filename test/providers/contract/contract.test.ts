import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import type { Job, SubmitOutcome } from '../../../src/providers/provider-contract.ts';
import { isSampled } from '../../fakes/provider-kinds.ts';
import { type Fault, type FaultName, faults } from '../../fakes/fault-proxy.ts';
import { startRestartableServer } from '../../fakes/restartable-server.ts';
import type { RunningUpstream } from '../../fakes/upstream-books.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  bookedJob,
  deliversUnder,
  isTrue,
  lacks,
  notCreate,
  recover,
  settled,
  stage,
  under,
  verdictOf,
  verdicts,
} from './contract-stage.ts';
import { type Upstream, upstreams } from './contract-upstreams.ts';
import { jobOf, jobRequest, signal as never, statusOf } from './job-request.ts';

// The same tests for every provider, through a bad network, judged by the books of its upstream: however a response is damaged and
// wherever it is lost, a task has one job at most, and no outcome is false.

/** What the common rules conclude from each fault of a create. */
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

/** The faults that a download notices; a hanging one is ended by a limit of the client. */
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
  for (const [index, upstream] of upstreams.filter(({ name }) => isSampled(name, 'families')).entries())
    describe(upstream.name, { skip: upstream.skip ?? false, concurrency: false }, () => playStories(upstream, index));
});

/** Below `long` the requests after a create meet half of the faults at each upstream, and each fault at half of the upstreams. */
function playStories(upstream: Upstream, upstreamIndex: number): void {
  let running: RunningUpstream;
  before(async () => {
    running = await upstream.start();
  });
  after(() => running.close());

  // Before all others, because some upstreams list only their newest 100 jobs.
  test('an unknown job is missing, and was certainly not created', async (t) => {
    const { provider } = await stage(t, upstream, running);
    const { job } = await bookedJob(t, provider, running);
    const request = jobRequest();
    // The handle of a real job, with a name that is not.
    const handle = JSON.parse(JSON.stringify(job.handle).replaceAll(job.id, request.jobKey)) as Job['handle'];
    const status = await statusOf(provider, jobOf(request, request.jobKey, handle));
    if (lacks(upstream, 'denial of a job')) return assert.equal(status.state, 'unclear');
    assert.deepEqual(status, { state: 'missing' });
    if (provider.namesJobs) assert.deepEqual(await recover(provider, request), { kind: 'not_created' });
  });

  for (const [faultIndex, [name, fault]] of named.entries()) {
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

    // The last tests show what a restart of an upstream that forgets jobs does.
    if (upstream.forgets !== undefined && 'restarts' in fault) continue;
    if (!runsWholeMatrix && (faultIndex + upstreamIndex) % 2 === 1) continue;

    test(`a status request that ${name} yields no wrong verdict`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const { job, state } = await bookedJob(t, provider, running);
      for (const end of [undefined, 'succeeded'] as const) {
        if (end !== undefined) await running.books.end(job.id, end);
        const status = await under(proxy, fault, notCreate(upstream), (signal) => statusOf(provider, job, signal));
        assert.ok(isTrue(status, await state()), `${status.state}, and the books say ${await state()}`);
        assert.equal(verdictOf(await statusOf(provider, job)), verdicts[await state()]);
      }
    });

    test(`a lookup that ${name} does not deny the lost job`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const { request, job } = await bookedJob(t, provider, running);
      if (lacks(upstream, 'look-up')) return assert.equal((await recover(provider, request)).kind, 'unknown');
      const found = await under(proxy, fault, notCreate(upstream), (signal) => recover(provider, request, signal));
      assert.ok(found.kind === 'later' || found.kind === 'found', found.kind);
      assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
    });

    test(`a cancellation that ${name} reports only what is true`, async (t) => {
      const { proxy, provider } = await stage(t, upstream, running);
      const { job, state } = await bookedJob(t, provider, running);
      if (lacks(upstream, 'cancellation')) return assert.equal(await provider.cancel(job, never), 'runs_on');
      const outcome = await under(proxy, fault, notCreate(upstream), (signal) => provider.cancel(job, signal));
      if (outcome === 'cancelled' || outcome === 'ended') assert.notEqual(await state(), 'running');
      const again = await provider.cancel(job, never);
      // A job that was cancelled may be forgotten, too.
      if (upstream.forgets !== undefined && again === 'ended') return assert.notEqual(await state(), 'running');
      assert.equal(await state(), again === 'runs_on' ? 'running' : again === 'cancelled' ? 'canceled' : 'failed');
    });
  }

  // Each pauses before its second attempt; they may pause together.
  describe('a video', { concurrency: true }, () => {
    for (const name of breakingDownloads) {
      test(`whose download ${name} arrives whole, and without a second job`, async (t) => {
        await deliversUnder(t, faults[name], upstream, running);
      });
    }
  });

  if (!upstream.losesVideos) {
    test('a video whose download meets a restart of the upstream arrives whole, and without a second job', async (t) => {
      await deliversUnder(t, faults['meets a restart of the upstream'], upstream, running);
    });
  }

  if (upstream.forgets !== undefined) {
    test('a job that a restart killed is missing, and it was not cancelled', async (t) => {
      const { provider } = await stage(t, upstream, running);
      const { job } = await bookedJob(t, provider, running);
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
    const { job } = await bookedJob(t, provider, running);
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
}
