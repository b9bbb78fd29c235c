import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import sharp from 'sharp';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { type CogProviderDeps, createCogProvider } from '../../../src/providers/cog/cog-provider.ts';
import type { RunOutcome } from '../../../src/providers/provider-contract.ts';
import { cogVideo, skipWithoutCog, startCogServer } from '../../fakes/cog/cog-server.ts';
import { faults, startFaultProxy } from '../../fakes/fault-proxy.ts';
import { serve } from '../../support/servers/serve.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { jobRequest, type JobChanges } from '../contract/job-request.ts';
import { providerDeps } from '../loopback-client.ts';

// The real server of the package `cog`, with a model that hands out a file.

const input = { prompt: '{{prompt}}', frames: '{{frames:4}}', seed: '{{seed}}', image: '{{image}}' };

function providerAt(baseUrl: string, changes: Partial<CogProviderDeps> = {}) {
  const options = { parameters: { input, fps: 16 } };
  return createCogProvider({ ...providerDeps({ kind: 'cog', baseUrl, options }), ...changes });
}

const onStarted = () => undefined;

async function stage(t: TestContext) {
  const server = await startCogServer();
  t.after(() => server.close());
  return { server, ...(await runner(t, server.baseUrl)) };
}

async function runner(t: TestContext, baseUrl: string) {
  const provider = providerAt(baseUrl);
  const progress: number[] = [];
  const run = async (prompt: string, changes: JobChanges = {}, { signal } = new AbortController()) => {
    const request = jobRequest({ input: withDefaults({ prompt }), ...changes });
    return await provider.run(request, (percent) => void progress.push(percent), {
      workFolder: await temporaryFolder(t),
      signal,
      onStarted,
    });
  };
  /** The server answers a run before it gives its place to the next. */
  const runWhenFree = (...asked: Parameters<typeof run>) =>
    waitFor('a free place', async () => {
      const end = await run(...asked);
      return end.kind === 'not_accepted' && end.reason === 'busy' ? undefined : end;
    });
  return { provider, run, runWhenFree, progress };
}

async function assertVideo(end: RunOutcome): Promise<void> {
  assert.ok(end.kind === 'video', JSON.stringify(end));
  assert.deepEqual(await readFile(end.video.path), await readFile(cogVideo));
}

describe('a model in a cog server', { skip: skipWithoutCog, concurrency: true }, () => {
  test('makes the video, from the inputs of the task', async (t) => {
    const { server, run, runWhenFree } = await stage(t);
    const path = join(await temporaryFolder(t), 'image.jpg');
    const jpeg = await sharp({ create: { width: 90, height: 160, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
    await writeFile(path, jpeg);
    await assertVideo(await run('a lighthouse', { images: [{ path, widthPx: 90, heightPx: 160 }] }));
    await assertVideo(await runWhenFree('without an image'));
    const [first, second] = await server.runs();
    assert.match(first ?? '', /^a lighthouse\|81\|\d+\|data:image\/jpeg;base64\|$/);
    assert.match(second ?? '', /^without an image\|81\|\d+\|\|$/);
  });

  test('reports why a run failed', async (t) => {
    const { run } = await stage(t);
    const end = await run('refuse');
    assert.ok(end.kind === 'failed');
    assert.equal(end.error.kind, 'upstream');
    assert.match(end.error.detail, /cannot do that/);
  });

  test('is busy while another prediction runs, and no second one begins', async (t) => {
    const { server, run } = await stage(t);
    const first = run('hold');
    await waitFor('the first run', async () => ((await server.runs()).length === 1 ? true : undefined));
    const second = await run('another');
    assert.deepEqual([second.kind, second.kind === 'not_accepted' && second.reason], ['not_accepted', 'busy']);
    await server.endHeld();
    await assertVideo(await first);
    assert.equal((await server.runs()).length, 1);
  });

  test('joins the run of an attempt that died, and ends with the video', async (t) => {
    const { server, runWhenFree, progress } = await stage(t);
    const request = jobRequest({ input: withDefaults({ prompt: 'hold' }) });
    // As of a worker that was frozen: its connection is still open.
    const earlier = providerAt(server.baseUrl);
    const stop = new AbortController();
    const frozen = earlier.run(request, () => undefined, {
      workFolder: await temporaryFolder(t),
      signal: stop.signal,
      onStarted,
    });
    await waitFor('the first run', async () => ((await server.runs()).length === 1 ? true : undefined));
    const joined = runWhenFree('hold', request);
    await waitFor('progress', () => progress.some((percent) => percent > 0));
    await server.endHeld();
    await assertVideo(await frozen);
    await assertVideo(await joined);
    assert.ok((await server.runs()).length <= 2);
    assert.ok(progress.every((percent) => percent >= 0 && percent < 100));
  });

  test('stops when the task is cancelled, and takes the next', async (t) => {
    const { server, run, runWhenFree } = await stage(t);
    const stop = new AbortController();
    const reason = new Error('cancelled');
    const running = run('hold', {}, stop);
    await waitFor('the run', async () => ((await server.runs()).length === 1 ? true : undefined));
    await Promise.all([assert.rejects(running, reason), Promise.resolve(stop.abort(reason))]);
    await server.endHeld();
    await waitFor('the end of the run', async () => ((await server.health()) === 'READY' ? true : undefined));
    await assertVideo(await runWhenFree('the next'));
    assert.equal((await server.runs()).length, 2);
  });

  test('whose worker process is killed loses the run; then the operator must act', async (t) => {
    const { server, run, runWhenFree } = await stage(t);
    assert.equal((await run('die')).kind, 'lost');
    const next = await runWhenFree('the next');
    assert.ok(next.kind === 'not_accepted');
    assert.equal(next.reason, 'operator');
    assert.match(next.detail, /UNHEALTHY/);
    assert.equal((await server.runs()).length, 1);
  });

  test('that is not there takes no job', async (t) => {
    const { run } = await runner(t, 'http://127.0.0.1:9');
    const end = await run('x');
    assert.deepEqual([end.kind, end.kind === 'not_accepted' && end.reason], ['not_accepted', 'unreachable']);
  });

  const lost = [
    'is cut after it was sent',
    'is cut in the body of the answer',
    'gets 500 after its acceptance',
  ] as const;
  for (const name of [...lost, 'gets an HTML 502 after its acceptance', 'gets truncated JSON'] as const) {
    test(`whose answer ${name} has lost the run, and the same name runs again`, async (t) => {
      const { server } = await stage(t);
      const { host } = new URL(server.baseUrl);
      const proxy = await startFaultProxy({ address: host, restart: async () => undefined });
      t.after(() => proxy.close());
      const { run, runWhenFree } = await runner(t, proxy.baseUrl);
      const request = jobRequest();
      await proxy.play(faults[name], ({ method }) => method === 'PUT');
      assert.equal((await run('x', request)).kind, 'lost');
      await proxy.heal();
      // Until the server has forgotten the run that was lost, it may say of this name that it is canceled.
      const end = await waitFor('an end of its own', async () => {
        const tried = await runWhenFree('x', request);
        return tried.kind === 'lost' && tried.detail === 'canceled' ? undefined : tried;
      });
      await assertVideo(end);
      assert.ok((await server.runs()).length <= 2);
    });
  }
});

describe('an answer of cog', () => {
  async function responding(t: TestContext, status: number, body: string) {
    const baseUrl = await serve(t, (request, response) => {
      request.resume();
      const isHealth = request.url === '/health-check';
      response.writeHead(isHealth ? 200 : status).end(isHealth ? '{"status":"BUSY"}' : body);
    });
    return await runner(t, baseUrl);
  }

  const refused = (detail: string): RunOutcome => ({ kind: 'refused', error: { kind: 'input', detail } });
  const lost = (detail: string): RunOutcome => ({ kind: 'lost', detail });
  const notAccepted = (reason: 'operator' | 'busy') => (detail: string) =>
    ({ kind: 'not_accepted', reason, detail }) as const;
  const cases: readonly (readonly [number, string, (detail: string) => RunOutcome])[] = [
    [200, '{"status":"dreaming"}', lost],
    [400, '{"error":"no such input"}', refused],
    [405, '{"detail":"Method Not Allowed"}', notAccepted('operator')],
    [422, '{"detail":[{"msg":"field required"}]}', refused],
    [422, 'no JSON', lost],
    [404, '{"detail":"Not Found"}', notAccepted('operator')],
    [503, '{"error":"setup not complete"}', notAccepted('busy')],
    [409, '{"error":"At capacity"}', notAccepted('busy')],
    [500, '{"error":"internal"}', lost],
    [401, '', notAccepted('operator')],
  ];
  for (const [status, body, outcome] of cases) {
    const expected = outcome(`HTTP ${status}: ${body}`);
    test(`${status} ${body} means ${JSON.stringify(expected)}`, async (t) => {
      const { run } = await responding(t, status, body);
      assert.deepEqual(await run('x'), expected);
    });
  }

  test('of more than 128 MiB is that video', async (t) => {
    const video = await readFile(cogVideo);
    const padding = Buffer.alloc(100 * 1024 * 1024 - (video.length % 3));
    const base64 = Buffer.concat([video, padding]).toString('base64');
    const { run } = await responding(t, 200, `{"status":"succeeded","output":"data:video/mp4;base64,${base64}"}`);
    const end = await run('x');
    assert.ok(end.kind === 'video', JSON.stringify(end));
    assert.equal((await stat(end.video.path)).size, video.length + padding.length);
  });

  test('says why a prediction failed or was lost', async (t) => {
    for (const [body, expected] of [
      ['{"status":"failed","error":"oh"}', { kind: 'failed', error: { kind: 'upstream', detail: 'oh' } }],
      ['{"status":"failed"}', { kind: 'failed', error: { kind: 'upstream', detail: 'failed' } }],
      ['{"status":"failed","error":"Worker crashed"}', { kind: 'lost', detail: 'Worker crashed' }],
      ['{"status":"canceled"}', { kind: 'lost', detail: 'canceled' }],
      ['no JSON', { kind: 'lost', detail: 'HTTP 200: no JSON' }],
      ...['["/tmp/a.mp4"]', '"data:text/plain;base64,eA=="', 'null'].map((output) => {
        const error = { kind: 'upstream', detail: 'the output is no video' } as const;
        return [`{"status":"succeeded","output":${output}}`, { kind: 'failed', error }] as const;
      }),
    ] as const) {
      const { run } = await responding(t, 200, body);
      assert.deepEqual(await run('x'), expected);
    }
  });

  test('at capacity is for the operator if the server reports that its worker is dead', async (t) => {
    const atCapacity = 'HTTP 409: {"error":"At capacity"}';
    for (const [health, reason, detail = `${atCapacity}; health: ${health}`] of [
      ['UNHEALTHY', 'operator'],
      ['DEFUNCT', 'operator'],
      ['SETUP_FAILED', 'operator'],
      ['BUSY', 'busy', atCapacity],
    ] as const) {
      const baseUrl = await serve(t, (request, response) => {
        request.resume();
        if (request.url === '/health-check') response.end(`{"status":"${health}"}`);
        else response.writeHead(409).end('{"error":"At capacity"}');
      });
      const { run } = await runner(t, baseUrl);
      assert.deepEqual(await run('x'), { kind: 'not_accepted', reason, detail });
    }
  });

  test('with the address of its video is that video', async (t) => {
    const baseUrl: string = await serve(t, (request, response) => {
      request.resume();
      if (request.method === 'GET') void readFile(cogVideo).then((video) => response.end(video));
      else response.end(JSON.stringify({ status: 'succeeded', output: `${baseUrl}/file.mp4` }));
    });
    const { run } = await runner(t, baseUrl);
    await assertVideo(await run('x'));
  });

  test('with its video in a list, in base64, is that video', async (t) => {
    const video = await readFile(cogVideo);
    const output = ['data:image/png;base64,eA==', `data:video/mp4;base64,${video.toString('base64')}`];
    const { run } = await responding(t, 200, JSON.stringify({ status: 'succeeded', output }));
    await assertVideo(await run('x'));
  });
});

for (const started of ['BUSY', 'READY'])
  test(`a held request counts as a started job only once the server responds ${started} to its health check`, async (t) => {
    let health = 'STARTING';
    let checks = 0;
    const baseUrl = await serve(t, (request, response) => {
      request.resume();
      if (request.url !== '/health-check') return;
      checks += 1;
      if (health === 'none') request.socket.destroy();
      else response.end(`{"status":"${health}"}`);
    });
    const provider = providerAt(baseUrl, { startCheckMs: 1 });
    const stop = new AbortController();
    let starts = 0;
    const running = provider.run(jobRequest({ input: withDefaults({ prompt: 'x' }) }), () => undefined, {
      workFolder: await temporaryFolder(t),
      signal: stop.signal,
      onStarted: () => (starts += 1),
    });
    for (const state of ['STARTING', 'none', 'UNHEALTHY']) {
      health = state;
      const before = checks;
      // The first of the two may have been sent in the state before.
      await waitFor(`two checks: ${state}`, () => (checks > before + 1 ? true : undefined));
      assert.equal(starts, 0, state);
    }
    health = started;
    await waitFor('the start', () => (starts === 1 ? true : undefined));
    await Promise.all([assert.rejects(running), Promise.resolve(stop.abort())]);
    assert.equal(starts, 1);
  });
