import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { OutboundError } from '../../../src/platform/outbound/outbound-error.ts';
import type { UpstreamAnswer, UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { createCogProvider } from '../../../src/providers/cog/cog-provider.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobRequest } from '../contract/job-request.ts';
import { providerDeps } from '../loopback-client.ts';

const input = { prompt: '{{prompt}}' };

describe('a prediction that an earlier attempt has begun', () => {
  /** Runs until the first report of progress, which ends the attempt. */
  async function joined(t: TestContext, status: number, body: string) {
    const answer = { status, headers: {}, body: Buffer.from(body) };
    const deps = providerDeps({ kind: 'cog', baseUrl: 'http://cog.test', options: { parameters: { input } } });
    const client = { call: async () => answer, download: () => assert.fail('nothing is downloaded') };
    const provider = createCogProvider({ ...deps, client });
    const stop = new AbortController();
    const reports: number[] = [];
    let starts = 0;
    const report = (percent: number) => {
      reports.push(percent);
      stop.abort(new Error('over'));
    };
    const to = { workFolder: await temporaryFolder(t), signal: stop.signal, onStarted: () => (starts += 1) };
    const end = await provider.run(jobRequest(), report, to).then(
      ({ kind }) => kind,
      () => 'stopped',
    );
    return { end, reports, starts };
  }

  for (const [status, state, logs, percent] of [
    [202, 'starting', '', 0],
    [202, 'processing', ' 40%|####', 40],
    [200, 'processing', '10% done, 37% done\n', 37],
    [200, 'starting', '100%', 99],
    [200, 'processing', `50%${'.'.repeat(200)}`, 0],
  ] as const)
    test(`is followed with the progress in its logs: ${status} ${state} ${JSON.stringify(logs.slice(0, 20))}`, async (t) => {
      const found = await joined(t, status, JSON.stringify({ status: state, logs }));
      assert.deepEqual(found, { end: 'stopped', reports: [percent], starts: 1 });
    });

  test('is lost by another status of the answer', async (t) => {
    const found = await joined(t, 201, '{"status":"processing"}');
    assert.deepEqual(found, { end: 'lost', reports: [], starts: 0 });
  });
});

test('the health of a server is no longer polled once it has responded', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const deps = providerDeps({ kind: 'cog', baseUrl: 'http://cog.test', options: { parameters: { input } } });
  const answerOf = (body: string) => ({ status: 200, headers: {}, body: Buffer.from(body) });
  let [checks, isHeld] = [0, false];
  let respond: (answer: UpstreamAnswer) => void = () => assert.fail('no prediction was requested');
  const call: UpstreamClient['call'] = async (_method, path) => {
    if (path === '/health-check') {
      checks += 1;
      return answerOf('{"status":"STARTING"}');
    }
    isHeld = true;
    return await new Promise((resolve) => (respond = resolve));
  };
  const provider = createCogProvider({ ...deps, client: { call, download: () => assert.fail('not used') } });
  const { signal } = new AbortController();
  const to = { workFolder: await temporaryFolder(t), signal, onStarted: () => assert.fail('it is starting') };
  const running = provider.run(jobRequest(), () => undefined, to);
  await untilTurn('the request', () => isHeld);
  t.mock.timers.tick(5_000);
  await untilTurn('a check', () => checks === 1);
  await nextTurn();
  respond(answerOf('{"status":"failed","error":"no"}'));
  assert.equal((await running).kind, 'failed');
  for (let turns = 0; turns < 5; turns += 1) {
    t.mock.timers.tick(5_000);
    await nextTurn();
  }
  assert.equal(checks, 1);
});

test('an answer that is larger than any video fails the job, and is not lost and run again', async (t) => {
  const deps = providerDeps({ kind: 'cog', baseUrl: 'http://cog.test', options: { parameters: { input } } });
  for (const [kind, expected] of [
    ['too_large', 'failed'],
    ['closed', 'lost'],
    ['connect', 'not_accepted'],
  ] as const) {
    const call = () => Promise.reject(new OutboundError(kind, 'a test'));
    const provider = createCogProvider({ ...deps, client: { call, download: () => assert.fail('not used') } });
    const { signal } = new AbortController();
    const to = { workFolder: await temporaryFolder(t), signal, onStarted: () => undefined };
    assert.equal((await provider.run(jobRequest(), () => undefined, to)).kind, expected);
  }
});
