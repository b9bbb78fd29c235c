import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ffmpeg } from '../../../src/tasks/ports.ts';
import { isPosterOf } from '../../../src/media/poster.ts';
import { TaskError } from '../../../src/platform/errors.ts';
import { probeVideo } from '../../../src/media/probe-video.ts';
import { createPreviewProvider } from '../../../src/providers/preview/preview-provider.ts';
import { filmed, framesOf, generationRequest, pinnedFfmpeg, temporaryFolder } from './render-support.ts';

const ffmpeg = pinnedFfmpeg();
const never: Ffmpeg = async () => assert.fail('nothing was to be rendered');
const dies: Ffmpeg = async () => Promise.reject(new Error('killed by SIGSEGV'));
const open = () => new AbortController().signal;

test('a film reports progress that never falls and ends at 100', async (t) => {
  const provider = createPreviewProvider({ ffmpeg, failures: false });
  const seen: number[] = [];
  const request = generationRequest(await temporaryFolder(t));
  const video = await filmed(provider, request, (progress) => seen.push(progress), open());
  assert.equal(await framesOf(video.path), 96);
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  );
  assert.deepEqual([seen.at(0), seen.at(-1)], [0, 100]);
});

test('an abort kills the renderer and comes back with its reason', async (t) => {
  const provider = createPreviewProvider({ ffmpeg, failures: false });
  const request = generationRequest(await temporaryFolder(t), { duration: 15 });
  const controller = new AbortController();
  const reason = new Error('cancelled by the test');
  let reached = 0;
  const abort = (progress: number) => {
    reached = progress;
    if (progress > 0) controller.abort(reason);
  };
  await assert.rejects(filmed(provider, request, abort, controller.signal), (error) => error === reason);
  assert.ok(reached > 0 && reached < 90, `the film was ${reached} percent done`);
});

test('a renderer that dies decides nothing about the task, so it is tried again', async (t) => {
  const provider = createPreviewProvider({ ffmpeg: dies, failures: false });
  const request = generationRequest(await temporaryFolder(t));
  const film = filmed(provider, request, () => undefined, open());
  await assert.rejects(film, (error) => error instanceof Error && !(error instanceof TaskError));
});

test('[[reject]] is refused without rendering', async (t) => {
  await assert.rejects(followed(t, 'A boat [[reject]]', never), fault('content_rejected', false));
});

test('[[crash]] is an internal fault, and trying again would not help', async (t) => {
  await assert.rejects(followed(t, '[[crash]] A boat', never), fault('internal', false));
});

test('[[hang]] lasts until it is aborted', async (t) => {
  const controller = new AbortController();
  const hanging = followed(t, '[[hang]]', never, {}, controller.signal);
  const first = await Promise.race([hanging, new Promise((resolve) => setImmediate(resolve, 'still hanging'))]);
  assert.equal(first, 'still hanging');
  controller.abort(new Error('deadline'));
  await assert.rejects(hanging, /deadline/);
});

test('[[instant]] gives a video that plays, and the poster made from it, without any rendering', async (t) => {
  const { path, posterPath = '' } = await followed(t, '[[instant]]', never, { ratio: '9:16', duration: 15 });
  const { bytes: _, sha256: __, ...facts } = await probeVideo(path);
  const expected = {
    widthPx: 1280,
    heightPx: 720,
    durationSeconds: 4,
    framesPerSecond: 24,
    hasAudio: true,
  };
  assert.deepEqual(facts, expected);
  assert.equal(await isPosterOf(posterPath, facts), true);
});

test('[[slow 1s]] takes a second longer and shows progress meanwhile', async (t) => {
  const from = performance.now();
  const seen: number[] = [];
  await followed(t, '[[slow 1s]] [[instant]]', never, {}, open(), (progress) => seen.push(progress));
  assert.ok(performance.now() - from >= 990);
  assert.ok(seen.length >= 4 && seen.some((progress) => progress > 0 && progress < 60), seen.join());
});

test('without the setting the brackets are ordinary words', async (t) => {
  const provider = createPreviewProvider({ ffmpeg: async () => undefined, failures: false });
  const request = generationRequest(await temporaryFolder(t), { prompt: '[[reject]] [[hang]]' });
  assert.ok((await filmed(provider, request, () => undefined, open())).path);
});

async function followed(
  t: Parameters<typeof temporaryFolder>[0],
  prompt: string,
  renderer: Ffmpeg,
  changes: Parameters<typeof generationRequest>[1] = {},
  signal = open(),
  report: (progress: number) => void = () => undefined,
) {
  const provider = createPreviewProvider({ ffmpeg: renderer, failures: true });
  return filmed(provider, generationRequest(await temporaryFolder(t), { ...changes, prompt }), report, signal);
}

function fault(failCode: string, retryable: boolean) {
  return (error: unknown) => {
    assert.ok(error instanceof TaskError, String(error));
    assert.deepEqual([error.failCode, error.retryable], [failCode, retryable]);
    assert.match(error.message, /^[A-Z].*\.$/);
    return true;
  };
}
