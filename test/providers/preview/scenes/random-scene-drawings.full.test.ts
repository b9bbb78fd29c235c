import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameSizesAt720p } from '../../../../src/catalogue/media/frame-size.ts';
import { createRandom } from '../../../../src/providers/preview/film-random.ts';
import { choosePalette, renderDrawing } from '../../../../src/providers/preview/scenes/drawing.ts';
import { randomSceneDrawings } from '../../../../src/providers/preview/scenes/random-scene-drawings.ts';
import { placesOf } from '../render-support.ts';

const seeds = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

function sceneOf(seed: string, frame: (typeof frameSizesAt720p)['16:9'], filmFrames: number) {
  const random = createRandom(seed, 'scenery');
  return randomSceneDrawings({ frame, filmFrames, random, palette: choosePalette(random) });
}

test('the ground of a scene fills the frame, and no strip ends before the film does', () => {
  for (const frame of Object.values(frameSizesAt720p)) {
    for (const seed of seeds) {
      const [ground, ...layers] = sceneOf(seed, frame, 360);
      assert.deepEqual([ground?.widthPx, ground?.heightPx], [frame.widthPx, frame.heightPx]);
      for (const strip of layers.filter(({ x }) => x.includes('n'))) {
        assert.ok(placesOf(strip, 360).every(({ x }) => x <= 0 && x + strip.widthPx >= frame.widthPx));
        assert.ok(
          placesOf(strip, 360).every(({ x }) => Number.isInteger(x)),
          'half a pixel is a stutter',
        );
      }
    }
  }
});

test('every scene is a picture in which something moves', async () => {
  for (const seed of seeds) {
    const drawings = sceneOf(seed, frameSizesAt720p['16:9'], 96);
    const moving = drawings.filter((one) => placesOf(one, 2)[0]?.x !== placesOf(one, 2)[1]?.x);
    assert.ok(moving.length >= 3);
    for (const { rgba, widthPx, heightPx } of await Promise.all(drawings.map(renderDrawing))) {
      assert.equal(rgba.length, 4 * widthPx * heightPx);
      assert.ok(rgba.some((byte) => byte > 0));
    }
  }
});
