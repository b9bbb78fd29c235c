import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answer, hangUp, playedClient, silence, type Step } from '../support/service/scripted-service.ts';
import { errorOf, lateErrorOf, limitMs, scriptedServices } from './scripted.ts';

const scripted = scriptedServices();

const record = (state: string) => ({ taskId: 't1', state, resultJson: { resultUrls: [] } });

describe('waitForTask', () => {
  test('asks the service to hold its answer, and backs off where it does not', async () => {
    const { url, seen } = await scripted(
      ...Array<Step>(7).fill(answer(200, record('queuing'))),
      answer(200, record('fail')),
    );
    const { client, sleptMs } = playedClient(url);
    assert.equal((await client.waitForTask('t1')).state, 'fail');
    assert.equal(seen[0]?.headers['prefer'], 'wait=25');
    assert.deepEqual(sleptMs, [250, 500, 1000, 2000, 4000, 5000, 5000]);
  });

  test('shows every record on the way when asked to, with short holds', async () => {
    const { url, seen } = await scripted(answer(200, record('queuing')), answer(200, record('success')));
    const states: string[] = [];
    await playedClient(url).client.waitForTask('t1', { onRecord: ({ state }) => states.push(state) });
    assert.deepEqual(states, ['queuing', 'success']);
    assert.equal(seen[0]?.headers['prefer'], 'wait=1');
  });

  test('outlasts a service that is busy for longer than a call would be repeated', async () => {
    const busy = Array<Step>(20).fill(answer(429, {}, { 'retry-after': '3' }));
    const { url, seen } = await scripted(...busy, answer(200, record('success')));
    assert.equal((await playedClient(url).client.waitForTask('t1')).state, 'success');
    assert.equal(seen.length, 21);
  });

  test('ends when the service is gone, when the task is unknown, and when its time is up', async () => {
    const gone = await scripted(hangUp);
    assert.equal((await errorOf(playedClient(gone.url).client.waitForTask('t1'))).kind, 'unreachable');
    const unknown = await scripted(answer(404));
    assert.equal((await errorOf(playedClient(unknown.url).client.waitForTask('t1'))).code, 404);
    const held = await scripted(silence);
    const late = playedClient(held.url).client.waitForTask('t1', { timeoutMs: 50 });
    assert.equal((await errorOf(late)).kind, 'unfinished');
    const timedByCaller = playedClient(held.url).client.waitForTask('t1', { signal: AbortSignal.timeout(50) });
    await assert.rejects(timedByCaller, { name: 'TimeoutError' });
  });
});

describe('download', () => {
  const withVideo = (link: string) => answer(200, { ...record('success'), resultJson: { resultUrls: [link] } });

  test('takes a fresh link, keeps the API key from it, and repeats what is passing', async () => {
    const film: Step = (response) => response.writeHead(200, { 'content-type': 'video/mp4' }).end('film');
    const store = await scripted(answer(503), film);
    const { url } = await scripted(withVideo(`${store.url}/video.mp4?signature=s`));
    const response = await playedClient(url).client.download('t1');
    assert.equal(await response.text(), 'film');
    assert.deepEqual(
      store.seen.map(({ path, headers }) => `${path} ${headers.authorization}`),
      Array<string>(2).fill('/video.mp4?signature=s undefined'),
    );
  });

  test('says why there is no video, and never shows the signature of a link', async () => {
    const live = await scripted(answer(200, record('generating')));
    assert.equal((await errorOf(playedClient(live.url).client.download('t1'))).kind, 'unfinished');
    const failed = await scripted(answer(200, { ...record('fail'), failMsg: 'The picture is broken.' }));
    const error = await errorOf(playedClient(failed.url).client.download('t1'));
    assert.equal(error.kind, 'no_video');
    assert.match(error.message, /The picture is broken\./);
    const denied: Step = (response) => response.writeHead(403).end('<Error>AccessDenied</Error>');
    for (const step of [denied, hangUp]) {
      const store = await scripted(step);
      const { url } = await scripted(withVideo(`${store.url}/video.mp4?signature=secret`));
      assert.doesNotMatch((await errorOf(playedClient(url).client.download('t1'))).message, /secret/);
    }
  });

  test('a download without progress, beyond its limit, or canceled by the caller ends', async (t) => {
    const slow: Step = (response) => void response.writeHead(200, { 'content-length': '100' }).write('f');
    const store = await scripted(slow);
    const { url } = await scripted(withVideo(`${store.url}/video.mp4`));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const late = await playedClient(url).client.download('t1', { timeoutMs: limitMs });
    assert.equal((await lateErrorOf(t, late.blob())).kind, 'unreachable');
    const still = await playedClient(url, { timeoutMs: limitMs }).client.download('t1');
    assert.equal((await lateErrorOf(t, still.blob())).kind, 'unreachable');
    const controller = new AbortController();
    const unwanted = await playedClient(url).client.download('t1', { signal: controller.signal });
    setImmediate(() => controller.abort(new Error('enough')));
    await assert.rejects(unwanted.blob(), /enough/);
  });
});
