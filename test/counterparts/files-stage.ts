import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JobStatus } from '../../src/providers/contract.ts';
import { createHttpProvider } from '../../src/providers/http/http-provider.ts';
import { startScriptedUpstream } from '../fakes/scripted-http.ts';
import { jobOf, jobRequest, type JobChanges } from '../providers/job-request.ts';
import { clientFor } from '../providers/provider-client.ts';
import { shippedFile } from '../providers/http/shipped-file.ts';

export const { signal } = new AbortController();

/** A provider by a file that comes with the service, and the fake of its upstream. */
export async function stage(t: TestContext, name: string, model?: string) {
  const file = shippedFile(name);
  const upstream = await startScriptedUpstream(file);
  t.after(() => upstream.close());
  const baseUrl = `http://${upstream.address}`;
  const provider = createHttpProvider({
    name,
    config: { kind: 'http', baseUrl, upstreamModel: model ?? file.example.model, options: {} },
    file,
    client: clientFor(baseUrl, 'test-key'),
    submitTimeoutMs: 60_000,
    pollsPerSecond: 14,
    warn: () => undefined,
  });
  const statusOf = async (id: string, handle = {}): Promise<JobStatus | undefined> => {
    const request = jobRequest();
    return (await provider.status([jobOf(request, id, handle)], signal)).get(request.jobKey);
  };
  const begin = async (changes: JobChanges) => {
    const outcome = await provider.submit(jobRequest(changes), signal);
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
  };
  return { file, upstream, baseUrl, provider, statusOf, begin };
}
