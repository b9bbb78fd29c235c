import assert from 'node:assert/strict';
import { before, after, describe, test, type TestContext } from 'node:test';
import { type ArkUpstream, startArkUpstream } from '../../fakes/ark.ts';
import { type Fault, type FaultName, faults, startFaultProxy } from '../../fakes/fault-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobOf, jobRequest } from '../job-request.ts';
import { arkProvider, key, signal } from './ark-stage.ts';

// What the stories for every provider do not reach: questions about several jobs, and the second step of a cancellation.

const named = Object.entries(faults) as readonly (readonly [FaultName, Fault])[]; // the names are the table's

describe('through a bad network', { concurrency: true }, () => {
  let upstream: ArkUpstream;
  before(async () => {
    upstream = await startArkUpstream({ key });
  });
  after(() => upstream.close());

  async function stage(t: TestContext) {
    const proxy = await startFaultProxy({ ...upstream, restart: async () => undefined });
    t.after(() => proxy.close());
    const provider = arkProvider(proxy.baseUrl);
    const begin = async () => {
      const request = jobRequest();
      const outcome = await provider.submit(request, signal);
      assert.ok(outcome.kind === 'accepted');
      return jobOf(request, outcome.id);
    };
    return { proxy, provider, begin };
  }

  /** Works under the fault, and gives up what hangs. */
  async function under<T>(
    proxy: Awaited<ReturnType<typeof startFaultProxy>>,
    fault: Fault,
    method: string,
    work: (limit: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const stop = new AbortController();
    await proxy.play(fault, (request) => request.method === method);
    const working = work(stop.signal);
    if (fault.reply === 'never') {
      await waitFor('the request', () => (proxy.met() > 0 ? true : undefined));
      stop.abort();
    }
    return await working;
  }

  for (const [name, fault] of named) {
    test(`a question about several jobs that ${name} brings no wrong verdict`, async (t) => {
      const { proxy, provider, begin } = await stage(t);
      const [queued, done, failed] = [await begin(), await begin(), await begin()];
      await upstream.books.end(done.id, 'succeeded');
      await upstream.books.end(failed.id, 'failed');
      const statuses = await under(proxy, fault, 'GET', (limit) => provider.status([queued, done, failed], limit));
      const states = [queued, done, failed].map(({ jobKey }) => statuses.get(jobKey)?.state ?? 'unclear');
      for (const [index, allowed] of ['queued', 'succeeded', 'failed'].entries()) {
        const state = states[index] ?? '';
        assert.ok(['queued', 'running', 'unclear', allowed].includes(state), `${state}, and it is ${allowed}`);
      }
    });

    test(`a DELETE that ${name} cancels nothing that runs on`, async (t) => {
      const { proxy, provider, begin } = await stage(t);
      const job = await begin();
      const outcome = await under(proxy, fault, 'DELETE', (limit) => provider.cancel(job, limit));
      const state = upstream.books.find(job.id)?.state;
      if (outcome === 'cancelled' || outcome === 'ended') assert.equal(state, 'canceled');
      if (outcome === 'runs_on') assert.equal(state, 'running');
    });
  }
});
