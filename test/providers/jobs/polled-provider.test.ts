import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createPolledProvider, startSubmitCountdown } from '../../../src/providers/jobs/polled-provider.ts';
import type { JobStatus, UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobOf, jobRequest } from '../contract/job-request.ts';
import { answering, providerDeps } from '../loopback-client.ts';

/** An upstream whose first link leads nowhere, and that gives these statuses when it is read again. The pauses pass immediately. */
async function fetchFrom(t: TestContext, forgetsJobs: boolean, statuses: readonly JobStatus[]) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stop = new AbortController();
  const client: UpstreamClient = {
    call: () => assert.fail('not used'),
    download: () => Promise.reject(new Error('HTTP 404')),
  };
  const left = [...statuses];
  const provider = createPolledProvider(
    {
      ...providerDeps({ kind: 'own', baseUrl: 'http://upstream.test' }, client),
      warn: () => void setImmediate(() => t.mock.timers.tick(60_000)),
    },
    {
      namesJobs: false,
      forgetsJobs,
      submit: () => assert.fail('not used'),
      recover: () => assert.fail('not used'),
      cancel: () => assert.fail('not used'),
      statusOf: async () => {
        if (left.length === 1) stop.abort(new Error('the limit has passed'));
        return left.shift() ?? assert.fail('no further request is needed');
      },
    },
  );
  const to = { workFolder: await temporaryFolder(t), signal: stop.signal };
  const outcome = await provider.result(jobOf(jobRequest(), 'job'), { url: '/first' }, to).then(
    () => 'a video',
    (error: unknown) => (error instanceof Error ? error.message : 'no error'),
  );
  return { outcome, unread: left.length };
}

const missing = { state: 'missing' } as const;
const found = { state: 'succeeded', result: { url: '/other' } } as const;
const unclear = { state: 'unclear', detail: 'HTTP 502' } as const;

describe('a video whose link is broken', () => {
  test('is lost once an upstream with jobs in memory only has denied the job three times in a row', async (t) => {
    const lost = { outcome: 'the upstream has lost the job', unread: 1 };
    assert.deepEqual(await fetchFrom(t, true, [missing, missing, missing, unclear]), lost);
  });

  test('is not lost while other answers come between, which prove nothing', async (t) => {
    const statuses = [missing, missing, unclear, missing, missing, unclear];
    assert.deepEqual(await fetchFrom(t, true, statuses), { outcome: 'the limit has passed', unread: 0 });
  });

  test('is not lost while the upstream has the job now and then, as behind a load balancer', async (t) => {
    const statuses = [missing, found, missing, found, missing, found, unclear];
    assert.deepEqual(await fetchFrom(t, true, statuses), { outcome: 'the limit has passed', unread: 0 });
  });

  test('is requested until the limit from an upstream that stores its jobs', async (t) => {
    const statuses = [missing, missing, missing, missing, missing];
    assert.deepEqual(await fetchFrom(t, false, statuses), { outcome: 'the limit has passed', unread: 0 });
  });
});

test('a provider reads each job on its own, twice per second at most, and sends its media, unless its kind differs', () => {
  const unused = () => assert.fail('not used');
  const deps = providerDeps({ kind: 'own', baseUrl: 'http://upstream.test' }, answering(200, {}));
  const rules = { namesJobs: true, forgetsJobs: false, submit: unused, recover: unused, cancel: unused };
  const declared = (more: object) => {
    const { images, clips, minPollMs, maxBatch, maxPollsPerSecond, submitTimeoutMs, runs } = createPolledProvider(
      deps,
      {
        ...rules,
        statusOf: unused,
        ...more,
      },
    );
    return { images, clips, minPollMs, maxBatch, maxPollsPerSecond, submitTimeoutMs, runs };
  };
  const common = { maxPollsPerSecond: 14, submitTimeoutMs: 600_000, runs: 'upstream' };
  assert.deepEqual(declared({}), { images: 'file', clips: undefined, minPollMs: 500, maxBatch: 1, ...common });
  const other = { images: 'link', clips: 'link', minPollMs: 2_000 };
  assert.deepEqual(declared({ ...other, batch: { max: 100, status: unused } }), { ...other, maxBatch: 100, ...common });
});

test('the requests of a create share its time, and the last one gets a millisecond at least', (t) => {
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  const leftMs = startSubmitCountdown(1_000);
  const left = [0, 400, 599, 1, 500].map((passedMs) => {
    now += passedMs;
    return leftMs();
  });
  assert.deepEqual(left, [1_000, 600, 1, 1, 1]);
});
