import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createComfyV2Provider } from '../../../src/providers/comfy/comfy-v2-provider.ts';
import { jobRequest, lostCall, signal } from '../contract/job-request.ts';
import { answering, providerDeps } from '../loopback-client.ts';

for (const [others, kind] of [
  [99, 'not_created'],
  [100, 'unknown'],
] as const) {
  test(`the job of a lost create that is not among ${others} listed ones is ${kind}`, async () => {
    const jobs = Array.from({ length: others }, (_, index) => ({ id: `other-${index}`, status: 'running' }));
    const deps = providerDeps({ kind: 'comfy-v2', baseUrl: 'http://comfy.test' }, answering(200, { jobs }));
    const provider = createComfyV2Provider({ ...deps, workflow: () => assert.fail('a look-up sends no workflow') });
    assert.equal((await provider.recover(lostCall(jobRequest()), signal)).kind, kind);
  });
}
