import assert from 'node:assert/strict';
import { before, after, describe, test, type TestContext } from 'node:test';
import { type ArkUpstream, startArkUpstream } from '../../fakes/ark-upstream.ts';
import { type Fault, type FaultName, faults, startFaultProxy } from '../../fakes/fault-proxy.ts';
import { under } from '../contract/contract-stage.ts';
import { begun } from '../contract/job-request.ts';
import { arkProvider, key } from './ark-stage.ts';

// The contract of all providers does not reach requests for several jobs, and the second step of a cancellation.

const isRead = ({ method }: { readonly method: string }) => method === 'GET';
const isDelete = ({ method }: { readonly method: string }) => method === 'DELETE';

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
    const begin = async () => (await begun(provider)).job;
    return { proxy, provider, begin };
  }

  for (const [name, fault] of named) {
    test(`a status request for several jobs that ${name} yields no wrong verdict`, async (t) => {
      const { proxy, provider, begin } = await stage(t);
      const [queued, done, failed] = [await begin(), await begin(), await begin()];
      await upstream.books.end(done.id, 'succeeded');
      await upstream.books.end(failed.id, 'failed');
      const statuses = await under(proxy, fault, isRead, (limit) => provider.status([queued, done, failed], limit));
      const states = [queued, done, failed].map(({ jobKey }) => statuses.get(jobKey)?.state ?? 'unclear');
      for (const [index, allowed] of ['queued', 'succeeded', 'failed'].entries()) {
        const state = states[index] ?? '';
        assert.ok(['queued', 'running', 'unclear', allowed].includes(state), `${state}, and it is ${allowed}`);
      }
    });

    test(`a DELETE that ${name} cancels nothing that runs on`, async (t) => {
      const { proxy, provider, begin } = await stage(t);
      const job = await begin();
      const outcome = await under(proxy, fault, isDelete, (limit) => provider.cancel(job, limit));
      const state = upstream.books.find(job.id)?.state;
      if (outcome === 'cancelled' || outcome === 'ended') assert.equal(state, 'canceled');
      if (outcome === 'runs_on') assert.equal(state, 'running');
    });
  }
});
