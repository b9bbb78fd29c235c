import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createComfyV2Provider } from '../../../src/providers/comfy/comfy-v2-provider.ts';
import { jobRequest, lostCall, signal } from '../contract/job-request.ts';
import { answering, providerDeps } from '../loopback-client.ts';

for (const [others, ageMs, kind] of [
  [99, 0, 'not_created'],
  [100, 0, 'later'],
  [100, 120_000, 'unknown'],
] as const) {
  test(`the job of a lost create of ${ageMs} ms ago that is not among ${others} listed ones is ${kind}`, async () => {
    const jobs = Array.from({ length: others }, (_, index) => ({ id: `other-${index}`, status: 'running' }));
    const deps = providerDeps({ kind: 'comfy-v2', baseUrl: 'http://comfy.test' }, answering(200, { jobs }));
    const provider = createComfyV2Provider({ ...deps, workflow: () => assert.fail('a look-up sends no workflow') });
    const lost = lostCall(jobRequest(), { intendedAt: Date.now() - ageMs });
    assert.equal((await provider.recover(lost, signal)).kind, kind);
  });
}
