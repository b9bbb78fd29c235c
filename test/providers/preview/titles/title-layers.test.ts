import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameSizes, type FrameSize } from '../../../../src/domain/frame-size.ts';
import type { Layer } from '../../../../src/providers/preview/layers.ts';
import { createRandom } from '../../../../src/providers/preview/random.ts';
import { choosePalette } from '../../../../src/providers/preview/scenes/drawing.ts';
import { titleLayers } from '../../../../src/providers/preview/titles/title-layers.ts';
import { placesOf } from '../render-support.ts';

async function layersOf(text: string, frame: FrameSize, filmFrames = 120) {
  const random = createRandom('seed', 'titles');
  const layers = await titleLayers(text, 'a-model', { frame, filmFrames, random, palette: choosePalette(random) });
  return { titles: layers.filter(({ time }) => time !== undefined), mark: layers.slice(-2) };
}

test('titles and mark stay inside the margins, titles in the lower third, in every ratio, whatever the text', async () => {
  const texts = [
    'Hi',
    'W'.repeat(500),
    'wide words that fill line after line '.repeat(4),
    'Z\u0351\u0489'.repeat(60),
    '漢字🦊',
  ];
  for (const frame of Object.values(frameSizes)) {
    for (const text of texts) {
      const { titles, mark } = await layersOf(text, frame);
      for (const layer of [...titles, ...mark]) {
        const place = placesOf(layer, 121).at(-1);
        assert.ok(place && place.x >= 40 && place.x + layer.widthPx <= frame.widthPx - 30, `${text} ${place?.x}`);
        assert.ok(place.y >= 30 && place.y + layer.heightPx <= frame.heightPx - 40, `${text} ${place.y}`);
        if (layer.time !== undefined) assert.ok(place.y >= 0.62 * frame.heightPx, `${text} begins at ${place.y}`);
      }
    }
  }
});

test('a long prompt shows far more than a few words', async () => {
  const prompt =
    'A lighthouse in a storm, waves breaking over the rocks, seagulls in the wind, slow dolly shot at dusk';
  assert.ok((await inkOf(prompt)) > 8 * (await inkOf('Hi')));
});

test('a prompt without a word gives the name of the model', async () => {
  const [named, empty, dot] = await Promise.all(
    ['a-model', '', '.'].map(async (text) => (await layersOf(text, frameSizes['1:1'])).titles),
  );
  assert.deepEqual(empty, named);
  assert.deepEqual(dot, named);
});

/** An empty braille cell, a mark, a note without a head; a variation selector, a tag and one to be ignored; what joins. */
const withoutInk = ['\u2800', '\u034f', '\u{1d159}', '\u{e0100}', '\u{e0041}', '\u{e0fff}', '\u200d', '\ufe0f'];

test('a character without ink is no fault, alone or between words, whether or not a font has it', async () => {
  for (const character of withoutInk) {
    assert.ok((await layersOf(character.repeat(9), frameSizes['1:1'])).titles.length > 0);
    assert.ok((await inkOf(`hello ${character} world`)) > 0.8 * (await inkOf('hello world')), character);
  }
});

test('a prompt that breaks where nothing has ink has its titles, too', async () => {
  const joiner = '\u200d';
  const prompts = [`hello ${joiner.repeat(500)}`, `hello${` ${joiner}`.repeat(300)}`, `${joiner.repeat(700)}x`];
  prompts.push('hello \u2800 world', `${'w'.repeat(129)}\u2764\ufe0f`, `${','.repeat(200)} hello world`);
  for (const prompt of prompts) assert.ok((await inkOf(prompt)) > 0);
});

test('markup in a prompt is text', async () => {
  assert.ok((await inkOf('<span size="200pt">big</span> &#0; &nosuch;')) > 3 * (await inkOf('big')));
  assert.ok((await inkOf('<b></b>')) > 0);
});

test('every film says in the picture, from its first frame to its last, that no AI model made it', async () => {
  for (const frame of Object.values(frameSizes)) {
    const { mark } = await layersOf('Hi', frame);
    assert.ok(mark.every(({ time }) => time === undefined));
    assert.ok(mark.every(({ widthPx }) => widthPx > 300));
    assert.ok(whiteOf(mark) > 500, `${whiteOf(mark)} white pixels`);
  }
});

/** How many pixels of the titles are nearly white. */
async function inkOf(text: string): Promise<number> {
  return whiteOf((await layersOf(text, frameSizes['16:9'])).titles);
}

function whiteOf(layers: readonly Layer[]): number {
  const whites = layers.map(({ rgba }) => {
    const pixels = Array.from({ length: rgba.length / 4 }, (_, i) => rgba.subarray(4 * i, 4 * i + 4));
    return pixels.filter((pixel) => pixel.every((byte) => byte > 200)).length;
  });
  return whites.reduce((sum, white) => sum + white, 0);
}
