import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplesPerSecond, soundtrack } from '../../../src/providers/preview/soundtrack.ts';

const channel = (sound: Float32Array, side: 0 | 1) => sound.filter((_, i) => i % 2 === side);

test('sound is as long as the film, fades from and to silence, is heard throughout and never clips', async () => {
  for (const [seed, seconds] of [
    ['a', 4],
    ['b', 5],
    ['c', 15],
  ] as const) {
    const sound = await soundtrack(seed, seconds);
    for (const samples of [channel(sound, 0), channel(sound, 1)]) {
      assert.equal(samples.length, seconds * samplesPerSecond);
      assert.deepEqual([Math.abs(samples[0] ?? 1), Math.abs(samples.at(-1) ?? 1)], [0, 0]);
      for (let second = 0; second < seconds; second++) {
        const loudest = samples
          .slice(second * samplesPerSecond, (second + 1) * samplesPerSecond)
          .reduce((a, b) => Math.max(a, Math.abs(b)), 0);
        assert.ok(loudest > 0.02 && loudest <= 0.501, `second ${second} of ${seed}: ${loudest}`);
      }
    }
  }
});

test('most of the sound is high enough for the speaker of a telephone', async () => {
  for (const seed of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const samples = channel(await soundtrack(seed, 5), 0);
    const share = powerOf(highPassed(samples, 400)) / powerOf(samples);
    assert.ok(share > 0.4, `${seed}: ${share.toFixed(2)} of the power is above 400 Hz`);
  }
});

test('a seed has its own sound, always the same', async () => {
  assert.deepEqual(await soundtrack('a', 4), await soundtrack('a', 4));
  assert.notDeepEqual(await soundtrack('a', 4), await soundtrack('b', 4));
});

function powerOf(samples: Float32Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0);
}

/** A Butterworth filter of the second order: 12 dB an octave below the limit. */
function highPassed(samples: Float32Array, hz: number): Float32Array {
  const k = Math.tan((Math.PI * hz) / samplesPerSecond);
  const norm = 1 / (1 + Math.SQRT2 * k + k * k);
  const [b1, b2] = [2 * (k * k - 1) * norm, (1 - Math.SQRT2 * k + k * k) * norm];
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return samples.map((x) => {
    const y = norm * (x - 2 * x1 + x2) - b1 * y1 - b2 * y2;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  });
}
