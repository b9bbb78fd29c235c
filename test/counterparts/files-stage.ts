import type { TestContext } from 'node:test';
import type { JobStatus } from '../../src/providers/provider-contract.ts';
import { createHttpProvider } from '../../src/providers/http/http-provider.ts';
import { startScriptedUpstream } from '../fakes/provider-file-upstream.ts';
import { begun, jobOf, jobRequest, type JobChanges, statusOf } from '../providers/contract/job-request.ts';
import { clientFor, providerDeps } from '../providers/loopback-client.ts';
import { shippedFile } from '../providers/http/shipped-file.ts';

/** A provider by a file that comes with the service, and the fake of its upstream. */
export async function stage(t: TestContext, name: string, model?: string) {
  const file = shippedFile(name);
  const upstream = await startScriptedUpstream(file);
  t.after(() => upstream.close());
  const baseUrl = `http://${upstream.address}`;
  const config = { kind: 'http', baseUrl, upstreamModel: model ?? file.example.model } as const;
  const provider = createHttpProvider({ ...providerDeps(config, clientFor(baseUrl, 'test-key')), file });
  return {
    file,
    upstream,
    baseUrl,
    provider,
    statusOf: (id: string, handle = {}): Promise<JobStatus> => statusOf(provider, jobOf(jobRequest(), id, handle)),
    begin: (changes: JobChanges) => begun(provider, changes),
  };
}
