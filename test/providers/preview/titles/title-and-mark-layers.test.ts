import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { frameSizesAt720p, type FrameSize } from '../../../../src/catalogue/media/frame-size.ts';
import type { Layer } from '../../../../src/providers/preview/layers-filter-graph.ts';
import { createRandom } from '../../../../src/providers/preview/film-random.ts';
import { choosePalette } from '../../../../src/providers/preview/scenes/drawing.ts';
import { titleAndMarkLayers, titleOf } from '../../../../src/providers/preview/titles/title-and-mark-layers.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { placesOf } from '../render-support.ts';

async function layersOf(text: string, frame: FrameSize, filmFrames = 120) {
  const random = createRandom('seed', 'titles');
  const layers = await titleAndMarkLayers(text, 'a-model', {
    frame,
    filmFrames,
    random,
    palette: choosePalette(random),
  });
  return { titles: layers.filter(({ time }) => time !== undefined), mark: layers.slice(-2) };
}

test('a title is the prompt in the characters of the shipped font, on one line', () => {
  assert.equal(titleOf('Привет, Ελλάδα, Việt Nam', 'm'), 'Привет, Ελλάδα, Việt Nam');
  assert.equal(titleOf('a\u202E\u0000 \n\t b\u{10ffff}', 'm'), 'a b');
  assert.equal(titleOf('<b>&amp;</b> 5 €', 'm'), '<b>&amp;</b> 5 €');
  assert.equal(titleOf('A fox \u{1F98A} and 狐, a boat', 'm'), 'A fox and …, a boat');
});

test('a prompt without a word that can be drawn gives the name of the model', () => {
  for (const prompt of ['', '.', '... — !', '\u200b', '\u2800', '一艘纸船漂在雨后的街道上', 'قارب ورقي', '漢字🦊 a'])
    assert.equal(titleOf(prompt, 'a-model'), 'a-model', prompt);
});

test('a prompt of which half can be drawn is shown, and so is one of 130 characters as it is', () => {
  assert.equal(titleOf('ab 漢字', 'm'), 'ab …');
  assert.equal(titleOf('ab 漢字狐', 'm'), 'm');
  const longest = `${'word '.repeat(25)}words`;
  assert.equal(titleOf(longest, 'm'), longest);
  assert.equal(titleOf(`${longest}s`, 'm'), `${'word '.repeat(25).trim()}…`);
});

test('titles are seen from the eighth frame on, until seven before the end', async () => {
  const { titles } = await layersOf('A fox', frameSizesAt720p['16:9'], 96);
  const time = { fromFrame: 7, frames: 82, fadeInFrames: 11, fadeOutFrames: 8 };
  assert.deepEqual(
    titles.map((layer) => layer.time),
    [time, time],
  );
});

test('a long prompt is cut at a word, and the title says so', () => {
  for (const prompt of ['word '.repeat(1000).trim(), 'w'.repeat(5000), 'a. '.repeat(1600).trim()]) {
    const title = titleOf(prompt, 'm');
    assert.match(title, /[^.\s]…$/);
    assert.ok(title.length > 60 && title.length <= 131, title);
  }
});

test('titles and mark stay inside the margins, titles in the lower third, in every ratio, whatever the text', async () => {
  const texts = ['Hi', 'W'.repeat(500), 'wide words that fill line after line '.repeat(4), 'Z\u0351\u0489'.repeat(60)];
  for (const frame of Object.values(frameSizesAt720p)) {
    for (const text of texts) {
      const { titles, mark } = await layersOf(text, frame);
      assert.ok(titles.length > 0);
      for (const layer of [...titles, ...mark]) {
        const place = placesOf(layer, 121).at(-1);
        assert.ok(place && place.x >= 40 && place.x + layer.widthPx <= frame.widthPx - 30, `${text} ${place?.x}`);
        assert.ok(place.y >= 30 && place.y + layer.heightPx <= frame.heightPx - 40, `${text} ${place.y}`);
        if (layer.time !== undefined) assert.ok(place.y >= 0.62 * frame.heightPx, `${text} begins at ${place.y}`);
      }
    }
  }
});

test('markup in a prompt is text', async () => {
  assert.ok((await inkOf('<span size="200pt">big</span> &#0; &nosuch;')) > 3 * (await inkOf('big')));
});

test('every film says in the picture, from its first frame to its last, that no AI model made it', async () => {
  for (const frame of Object.values(frameSizesAt720p)) {
    const { mark } = await layersOf('Hi', frame);
    assert.ok(mark.every(({ time, widthPx }) => time === undefined && widthPx > 300));
    assert.ok(whiteOf(mark) > 500, `${whiteOf(mark)} white pixels`);
  }
});

test('on a machine that says nothing about its fonts, settings of ours are used and nothing complains', async (t) => {
  const [config, drawing] = ['run/config/config.js', 'providers/preview/titles/render-text-picture.js'].map((path) =>
    JSON.stringify(new URL(`../../../../src/${path}`, import.meta.url).href),
  );
  const folder = await temporaryFolder(t);
  const program = `import { configureFontconfig } from ${config};
    configureFontconfig(${JSON.stringify(join(folder, 'fonts & <more>'))}, '/nowhere');
    const { drawText } = await import(${drawing});
    console.log((await drawText('A fox', { weight: 'Bold' }, 40)).widthPx > 40);`;
  const env = { HOME: folder, XDG_CACHE_HOME: folder };
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env, encoding: 'utf8' });
  assert.deepEqual([child.stderr, child.stdout], ['', 'true\n']);
});

/** Counts the nearly white pixels of the titles. */
async function inkOf(text: string): Promise<number> {
  return whiteOf((await layersOf(text, frameSizesAt720p['16:9'])).titles);
}

function whiteOf(layers: readonly Layer[]): number {
  const whites = layers.map(({ rgba }) => {
    const pixels = Array.from({ length: rgba.length / 4 }, (_, i) => rgba.subarray(4 * i, 4 * i + 4));
    return pixels.filter((pixel) => pixel.every((byte) => byte > 200)).length;
  });
  return whites.reduce((sum, white) => sum + white, 0);
}
