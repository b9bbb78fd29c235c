import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { FilePathSource, Input, MP4 } from 'mediabunny';
import { frameSize } from '../../../src/catalogue/media/frame-size.ts';
import type { PreparedReferenceImage } from '../../../src/catalogue/media/media-by-role.ts';
import type { TaskInput } from '../../../src/catalogue/input/task-input.ts';
import { ratios, resolutions } from '../../../src/catalogue/input/resolutions-ratios-and-field-bounds.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { renderFilm } from '../../../src/providers/preview/render-film.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { discImage, framesOf, pinnedFfmpeg, taskInput } from './render-support.ts';

/** The length of a film whose length is not what its test is about; rendering takes time. */
const seconds = runsWholeMatrix ? 4 : 1;

type Wish = Partial<TaskInput> & { readonly images?: readonly PreparedReferenceImage[]; readonly model?: string };

async function render(folder: string, { images = [], model = 'videogen-2.0', ...changes }: Wish) {
  const input = taskInput(changes);
  const workFolder = await mkdtemp(join(folder, 'film-'));
  const film = { model, input, title: input.prompt, images, workFolder };
  return renderFilm(pinnedFfmpeg(), film, () => undefined, new AbortController().signal);
}

for (const [i, ratio] of ratios.entries()) {
  test(`${ratio}: size, length, rate and sound are as requested, with and without images`, async (t) => {
    const folder = await temporaryFolder(t);
    const images = [await discImage(folder, 900, 1600), await discImage(folder, 1200, 1200)];
    // Outside `long` a ratio has one film: from ratio to ratio images alternate, and from pair to pair sound.
    for (const shown of runsWholeMatrix ? [[], images] : [i % 2 === 0 ? [] : images]) {
      const generateAudio = (Math.floor(i / 2) + shown.length) % 2 === 0;
      const { path } = await render(folder, { ratio, duration: seconds, generateAudio, images: shown });
      const size = frameSize('720p', ratio, shown[0]);
      const { bytes: _, sha256: __, ...facts } = await checkAndMeasureVideo(path);
      const expected = { ...size, durationSeconds: seconds, framesPerSecond: 24, hasAudio: generateAudio };
      assert.deepEqual(facts, expected);
    }
  });
}

for (const [i, resolution] of resolutions.entries()) {
  // A film of 2160p takes ten times as long as one of 720p, so images alternate from resolution to resolution.
  test(`${resolution}: size and length are as requested`, async (t) => {
    const folder = await temporaryFolder(t);
    const images = i % 2 === 0 ? [] : [await discImage(folder, 900, 1600)];
    const { path } = await render(folder, { resolution, duration: seconds, generateAudio: false, images });
    const { widthPx, heightPx, durationSeconds } = await checkAndMeasureVideo(path);
    assert.deepEqual({ widthPx, heightPx }, frameSize(resolution, '16:9', undefined));
    assert.equal(durationSeconds, seconds);
  });
}

test('every hostile prompt is rendered', async (t) => {
  const folder = await temporaryFolder(t);
  const prompts = [
    `it's "50%" %{pts} \\ : ; , [in] =x' '' \n\t $(touch x) \u202Eabc\u202C 'a':b`,
    'word '.repeat(1000),
    'w'.repeat(5000),
    '\u{1F98A}\u{1F469}\u200D\u{1F680}\u{1F1E9}\u{1F1EA}',
  ];
  for (const prompt of prompts) {
    assert.equal(await framesOf((await render(folder, { prompt, duration: seconds })).path), 24 * seconds);
  }
});

test('the longest film has every one of its frames', async (t) => {
  const folder = await temporaryFolder(t);
  const images = [await discImage(folder, 1600, 900)];
  const nine = Array.from({ length: 9 }, () => images).flat();
  assert.equal(await framesOf((await render(folder, { duration: 15, generateAudio: false })).path), 360);
  assert.equal(await framesOf((await render(folder, { images: nine })).path), 96);
});

test('the sound of a film lasts to its very end', async (t) => {
  const { path } = await render(await temporaryFolder(t), { duration: 5 });
  const input = new Input({ formats: [MP4], source: new FilePathSource(path) });
  const sound = await input.getPrimaryAudioTrack();
  assert.ok(Math.abs(((await sound?.computeDuration()) ?? 0) - 5) < 0.05, 'the sound ends with the film');
  input.dispose();
});

test('the same request gives the same bytes, another prompt or model another film', async (t) => {
  const folder = await temporaryFolder(t);
  const digest = async (wish: Wish) => {
    const { path } = await render(folder, { duration: seconds, ...wish });
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  };
  const first = await digest({});
  assert.equal(await digest({}), first);
  assert.notEqual(await digest({ prompt: 'A paper boat.' }), first);
  assert.notEqual(await digest({ model: 'videogen-2.0-fast' }), first);
});
