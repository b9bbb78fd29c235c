import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import {
  downloadOrCopyMedia,
  fetchEach,
  type FetchSettings,
  invalidMediaError,
} from '../../../src/media/references/fetch-media.ts';
import { fetchReferenceClips } from '../../../src/media/references/fetch-reference-clips.ts';
import { fetchReferenceImages } from '../../../src/media/references/fetch-reference-images.ts';
import type { ResponseHead } from '../../../src/platform/outbound/body/read-response.ts';
import type { GetOptions } from '../../../src/platform/outbound/guarded-client.ts';
import { OutboundError, type OutboundErrorKind } from '../../../src/platform/outbound/outbound-error.ts';
import { mockTimers } from '../../support/mock-timers.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const source = { url: 'https://client.example/1', path: 'input.imageUrls[0]' };
const limits = { kind: 'image', maxMegabytes: 2, timeoutMs: 9_000, accept: 'image/*' } as const;

/** A client that gives these answers, and then the last one again. */
function answering(...answers: readonly (Partial<ResponseHead> | OutboundError)[]) {
  const asked: (readonly [url: string, path: string, options: GetOptions])[] = [];
  const download: FetchSettings['client']['download'] = async (...request) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(request);
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: {}, ...answer };
  };
  return { client: { download }, asked };
}

async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => 'done',
    (thrown: unknown) => thrown,
  );
  return error instanceof TaskError ? [error.failCode, error.message] : error;
}

const { signal } = new AbortController();
const downloaded = (client: FetchSettings['client'], changes: object = {}) =>
  failureOf(downloadOrCopyMedia({ client, signal }, source, '/folder/1', { ...limits, ...changes }));

test('a download has the limits of its kind, and every status of a success is one', async () => {
  for (const status of [200, 299]) {
    const { client, asked } = answering({ status });
    assert.equal(await downloaded(client), 'done');
    const options = { maxBytes: 2 * 1024 * 1024, timeoutMs: 9_000, maxRedirects: 3, headers: { accept: 'image/*' } };
    assert.deepEqual(asked, [[source.url, '/folder/1', { ...options, signal }]]);
  }
  for (const status of [199, 300, 404]) {
    const message = `input.imageUrls[0] could not be fetched: its server answered ${status}.`;
    assert.deepEqual(await downloaded(answering({ status }).client), ['image_unreachable', message]);
  }
});

test('an error of the address ends the task with one sentence; one of ours is thrown as it is', async () => {
  const kinds: readonly OutboundErrorKind[] = [
    'blocked',
    'dns',
    'connect',
    'tls',
    'timeout',
    'closed',
    'protocol',
    'redirect',
  ];
  for (const [kind, code] of [
    ['image', 'image'],
    ['video', 'media'],
    ['audio', 'media'],
  ] as const) {
    for (const one of kinds) {
      const found = await downloaded(answering(new OutboundError(one, 'why')).client, { kind });
      assert.deepEqual(found, [`${code}_unreachable`, 'input.imageUrls[0] could not be fetched.'], one);
    }
    const large = await downloaded(answering(new OutboundError('too_large', 'why')).client, { kind });
    assert.deepEqual(large, [`${code}_invalid`, 'input.imageUrls[0] is larger than 2 MB.']);
    const packed = await downloaded(answering(new OutboundError('encoding', 'zstd')).client, { kind });
    const message = 'input.imageUrls[0] could not be fetched: its server compressed it as zstd.';
    assert.deepEqual(packed, [`${code}_unreachable`, message]);
  }
  for (const kind of ['aborted', 'busy'] as const) {
    const error = new OutboundError(kind, 'why');
    assert.equal(await downloaded(answering(error).client), error);
  }
  const invalid = invalidMediaError('video', source, 'is cut off', 'the cause');
  assert.deepEqual(
    [invalid.failCode, invalid.message, invalid.cause, invalid.retryable],
    ['media_invalid', 'input.imageUrls[0] is cut off.', 'the cause', false],
  );
});

test('a request to a busy server is repeated after the pause that it names, of at most half a minute', async (t) => {
  mockTimers(t, { apis: ['setTimeout', 'Date'], now: 0 });
  const message = (status: number) => `input.imageUrls[0] could not be fetched: its server answered ${status}.`;
  for (const [status, retryAfter, pauseMs] of [
    [429, undefined, 2_000],
    [503, undefined, 2_000],
    [429, '0', 0],
    [429, '30', 30_000],
    [503, 'soon', 2_000],
    [503, 'in', 20_000],
    [429, '31', undefined],
    [503, 'in', 31_000],
    [500, '1', undefined],
    [404, undefined, undefined],
  ] as const) {
    const value = retryAfter === 'in' ? new Date(Date.now() + pauseMs).toUTCString() : retryAfter;
    const { client, asked } = answering({ status, headers: value === undefined ? {} : { 'retry-after': value } });
    const ended = downloaded(client);
    const isAskedAgain = pauseMs !== undefined && pauseMs <= 30_000;
    if (isAskedAgain) {
      await turn();
      if (pauseMs > 0) t.mock.timers.tick(pauseMs - 1);
      await turn();
      assert.equal(asked.length, 1);
      t.mock.timers.tick(1);
    }
    assert.deepEqual(await ended, ['image_unreachable', message(status)], `${status} ${value}`);
    assert.equal(asked.length, isAskedAgain ? 2 : 1);
    // Dates of HTTP are whole seconds.
    t.mock.timers.setTime(Math.ceil(Date.now() / 1000) * 1000);
  }
  const stop = new AbortController();
  const ended = failureOf(
    downloadOrCopyMedia({ ...answering({ status: 429 }), signal: stop.signal }, source, '/1', limits),
  );
  await turn();
  stop.abort('over');
  assert.equal(await ended, 'over');
});

test('media of a task are fetched three at a time, in their order, and the first error stops the others', async (t) => {
  const folder = await temporaryFolder(t);
  const sources = Array.from({ length: 5 }, (_, index) => ({
    url: `https://client.example/${index}`,
    path: `p${index}`,
  }));
  const settings: FetchSettings = { client: answering({}).client, folder, signal };
  let [running, most] = [0, 0];
  const names = await fetchEach(sources, settings, async (_settings, index, { path }) => {
    running += 1;
    most = Math.max(most, running);
    for (let turns = 5 - index; turns > 0; turns -= 1) await turn();
    running -= 1;
    return `${index} ${path}`;
  });
  assert.deepEqual([names, most], [['0 p0', '1 p1', '2 p2', '3 p3', '4 p4'], 3]);
  let isEnded = false;
  const failing = fetchEach(sources, settings, async ({ signal: stopped }, index) => {
    if (index === 1) throw new Error('the second one');
    while (!stopped.aborted) await turn();
    await turn();
    isEnded = true;
  });
  await assert.rejects(failing, /the second one/);
  assert.ok(isEnded, 'the folder is deleted only after the last one has ended');
});

test('images and clips have the limits of their kinds', async (t) => {
  const folder = await temporaryFolder(t);
  const { client, asked } = answering(new OutboundError('closed', 'why'));
  const settings = { client, folder, signal, sources: [source] };
  const ffmpeg = () => assert.fail('nothing is converted');
  await assert.rejects(fetchReferenceImages(settings));
  const clips = { ...settings, ffmpeg, limits: { maxMegabytes: 15, maxSeconds: 20 } };
  await assert.rejects(fetchReferenceClips({ ...clips, kind: 'video' }));
  await assert.rejects(fetchReferenceClips({ ...clips, kind: 'audio' }));
  assert.deepEqual(
    asked.map(([, path, { maxBytes, timeoutMs, headers }]) => [
      path.slice(folder.length + 1),
      maxBytes / 1024 / 1024,
      timeoutMs,
      headers?.['accept'],
    ]),
    [
      ['image-0.fetched', 30, 120_000, 'image/jpeg, image/png, image/webp, */*;q=0.5'],
      ['video-0.fetched', 15, 150_000, 'video/mp4, video/quicktime, video/webm, */*;q=0.5'],
      ['audio-0.fetched', 15, 150_000, 'audio/mpeg, audio/wav, audio/mp4, */*;q=0.5'],
    ],
  );
});
