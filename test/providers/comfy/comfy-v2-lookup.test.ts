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

test('a lost create has the job of its name in the list; a list that is cut or cannot be read proves nothing', async () => {
  const request = jobRequest();
  const ours = { id: 'job-7', status: 'running', metadata: request.jobKey };
  const other = { id: 'job-8', status: 'running', metadata: jobRequest().jobKey };
  for (const [status, answer, expected] of [
    [200, { jobs: [other, ours] }, { kind: 'found', id: 'job-7' }],
    [200, { jobs: [other, ours], truncated: true }, { kind: 'found', id: 'job-7' }],
    [200, { jobs: [other] }, { kind: 'not_created' }],
    [200, { jobs: [other], truncated: true }, { kind: 'later', afterMs: 2_000 }],
    [200, { jobs: [{ id: 'a/b' }] }, { kind: 'later', afterMs: 15_000 }],
    [500, { jobs: [ours] }, { kind: 'later', afterMs: 15_000 }],
  ] as const) {
    const deps = providerDeps({ kind: 'comfy-v2', baseUrl: 'http://comfy.test' }, answering(status, answer));
    const provider = createComfyV2Provider({ ...deps, workflow: () => assert.fail('a look-up sends no workflow') });
    assert.deepEqual(await provider.recover(lostCall(request), signal), expected, JSON.stringify(answer));
  }
});
