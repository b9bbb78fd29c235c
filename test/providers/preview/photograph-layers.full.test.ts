import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameSizesAt720p } from '../../../src/catalogue/media/frame-size.ts';
import { photographLayers, layerTimeOfShot } from '../../../src/providers/preview/photograph-layers.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { discImage, placesOf } from './render-support.ts';

test('one shot always covers the film, and each stays until the next has covered it', () => {
  for (let shots = 1; shots <= 9; shots++) {
    for (let filmFrames = 96; filmFrames <= 360; filmFrames += 24) {
      const times = Array.from({ length: shots }, (_, shot) => layerTimeOfShot(shot, shots, filmFrames));
      assert.deepEqual([times[0]?.fromFrame, times[0]?.fadeInFrames], [0, 0]);
      for (const [i, { fromFrame, frames, fadeInFrames }] of times.entries()) {
        const next = times[i + 1];
        const until = next === undefined ? filmFrames : next.fromFrame + next.fadeInFrames;
        assert.equal(fromFrame + frames, until);
        assert.ok(fadeInFrames < frames / 2);
      }
    }
  }
});

test('a photograph of any shape fills a frame of any shape as long as it is seen, and moves all the time', async (t) => {
  const folder = await temporaryFolder(t);
  const images = [
    await discImage(folder, 1600, 900),
    await discImage(folder, 300, 800),
    await discImage(folder, 2400, 300),
  ];
  for (const frame of Object.values(frameSizesAt720p)) {
    for (const image of images) {
      const [, shot] = await photographLayers([image], { frame, filmFrames: 96 });
      assert.ok(shot);
      const places = placesOf(shot, 96);
      assert.ok(places.every(({ x, y }) => Number.isInteger(x) && Number.isInteger(y)));
      assert.ok(places.every(({ x, y }) => x <= 0 && y <= 0));
      assert.ok(places.every(({ x }) => x + shot.widthPx >= frame.widthPx));
      assert.ok(places.every(({ y }) => y + shot.heightPx >= frame.heightPx));
      assert.ok(places.slice(1).every(({ x, y }, i) => x !== places[i]?.x || y !== places[i]?.y));
    }
  }
});

test('a photograph is not stretched: a disc stays a disc', async (t) => {
  const folder = await temporaryFolder(t);
  for (const image of [await discImage(folder, 1600, 1000), await discImage(folder, 800, 1600)]) {
    for (const frame of Object.values(frameSizesAt720p)) {
      const [, shot] = await photographLayers([image], { frame, filmFrames: 96 });
      assert.ok(shot);
      const white = Array.from({ length: shot.rgba.length / 4 }, (_, i) => i).filter(
        (i) => (shot.rgba[4 * i] ?? 0) > 150,
      );
      const wide = new Set(white.map((i) => i % shot.widthPx)).size;
      const tall = new Set(white.map((i) => Math.floor(i / shot.widthPx))).size;
      assert.ok(wide > 50 && Math.abs(wide / tall - 1) < 0.03, `the disc is ${wide} by ${tall} pixels`);
    }
  }
});
