import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import { countedSeconds } from '../../../src/catalogue/prices/counted-seconds.ts';
import type { TaskInput } from '../../../src/catalogue/input/task-input.ts';
import { isPosterSizedJpeg } from '../../../src/media/ffmpeg/poster.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { createPreviewProvider } from '../../../src/providers/preview/preview-provider.ts';
import { waitFor } from '../../support/wait-for.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { discImage, filmed, framesOf, generationRequest, pinnedFfmpeg } from './render-support.ts';

const ffmpeg = pinnedFfmpeg();
const never: FfmpegRunner = async () => assert.fail('nothing was to be rendered');
const dies: FfmpegRunner = async () => Promise.reject(new Error('killed by SIGSEGV'));
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

test('a film begins with its first frame and ends with its last one', async (t) => {
  const folder = await temporaryFolder(t);
  const colored = async (background: string) => {
    const path = join(folder, `${background}.png`);
    await sharp({ create: { width: 320, height: 180, channels: 3, background } })
      .png()
      .toFile(path);
    return { path, widthPx: 320, heightPx: 180 };
  };
  const [red, lime, blue] = [await colored('red'), await colored('lime'), await colored('blue')];
  const media = async () => ({ ...noMedia, firstFrame: red, images: [lime], lastFrame: blue });
  const firstPixels: number[][] = [];
  const renderer: FfmpegRunner = async ({ cwd }) => {
    // The still before them is the background.
    for (const still of [1, 2, 3])
      firstPixels.push([...(await readFile(join(cwd, `still-${still}.rgba`))).subarray(0, 3)]);
  };
  const provider = createPreviewProvider({ ffmpeg: renderer, failures: false });
  await filmed(provider, { ...generationRequest(folder), media }, () => undefined, open());
  assert.deepEqual(firstPixels, [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ]);
});

test('a seed repeats a film in any order of the fields, and another seed makes another film', async (t) => {
  const provider = createPreviewProvider({ ffmpeg, failures: false });
  const film = async (input: Partial<TaskInput>) => {
    const small = { duration: 1, resolution: '480p', generateAudio: false } as const;
    const request = generationRequest(await temporaryFolder(t), small);
    const { path } = await filmed(
      provider,
      { ...request, input: { ...input, ...request.input } },
      () => undefined,
      open(),
    );
    return (await readFile(path)).toString('base64');
  };
  const options = { style: 'anime' };
  const first = await film({ seed: 7, options });
  assert.equal(await film({ options, seed: 7 }), first);
  assert.notEqual(await film({ options, seed: 8 }), first);
});

test('a film shows as many images as a request may have, within a second', async (t) => {
  const folder = await temporaryFolder(t);
  const image = await discImage(folder, 90, 160);
  const images = Array.from({ length: 20 }, () => image);
  const request = {
    ...generationRequest(folder, { duration: 1 }),
    media: async () => ({ ...noMedia, firstFrame: image, images, lastFrame: image }),
  };
  const provider = createPreviewProvider({ ffmpeg, failures: false });
  assert.equal(await framesOf((await filmed(provider, request, () => undefined, open())).path), 24);
});

test('an abort kills the renderer and comes back with its reason', async (t) => {
  const provider = createPreviewProvider({ ffmpeg, failures: false });
  const request = generationRequest(await temporaryFolder(t), { duration: 15 });
  const controller = new AbortController();
  const reason = new Error('cancelled by the test');
  let reached = 0;
  const abort = (progress: number) => {
    // Reports that were written before the renderer was killed may follow.
    if (progress === 0 || reached > 0) return;
    reached = progress;
    controller.abort(reason);
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
  for (const spelled of ['[[reject]]', '[[ Reject ]]', '[[REJECT]]'])
    await assert.rejects(followed(t, `A boat ${spelled}`, never), fault('content_rejected', false));
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
  const { path, posterPath = '' } = await followed(t, '[[instant]]', never, { duration: 4 });
  const { bytes: _, sha256: __, ...facts } = await checkAndMeasureVideo(path);
  const expected = {
    widthPx: 1280,
    heightPx: 720,
    durationSeconds: 4,
    framesPerSecond: 24,
    hasAudio: true,
  };
  assert.deepEqual(facts, expected);
  const adaptive = await followed(t, '[[instant]]', never, { duration: 4, ratio: 'adaptive' });
  assert.ok(adaptive.posterPath);
  assert.equal(await isPosterSizedJpeg(posterPath, facts), true);
});

test('[[instant]] gives a video of the ordered length, sound and size', async (t) => {
  const silent = await followed(t, '[[instant]]', ffmpeg, { duration: 15, generateAudio: false });
  const repeated = await checkAndMeasureVideo(silent.path);
  assert.deepEqual([repeated.widthPx, countedSeconds(repeated), repeated.hasAudio], [1280, 15, false]);
  const tall = await checkAndMeasureVideo(
    (await followed(t, '[[instant]]', ffmpeg, { duration: 1, ratio: '9:16' })).path,
  );
  assert.deepEqual([tall.widthPx, tall.heightPx, tall.durationSeconds], [720, 1280, 1]);
  const small = { duration: 1, resolution: '480p' } as const;
  const { heightPx } = await checkAndMeasureVideo((await followed(t, '[[instant]]', ffmpeg, small)).path);
  assert.equal(heightPx, 480);
});

test('no more films are rendered at a time than the limit', async (t) => {
  const started: (() => void)[] = [];
  const renderer: FfmpegRunner = () => new Promise((resolve) => void started.push(resolve));
  const provider = createPreviewProvider({ ffmpeg: renderer, failures: true, concurrency: 1 });
  const small = { duration: 1, resolution: '480p', generateAudio: false } as const;
  const requests = [
    generationRequest(await temporaryFolder(t), small),
    generationRequest(await temporaryFolder(t), small),
  ];
  let begun = 0;
  const films = requests.map((request) =>
    filmed(provider, request, (progress) => void (begun += progress === 0 ? 1 : 0), open()),
  );
  for (const film of [1, 2]) {
    await waitFor(`film ${film}`, () => (started.length === film ? true : undefined));
    assert.equal(begun, film);
    started.at(-1)?.();
  }
  await Promise.all(films);
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
  renderer: FfmpegRunner,
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
