import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplesPerSecond, composeSoundtrack } from '../../../src/providers/preview/soundtrack.ts';

const channel = (sound: Float32Array, side: 0 | 1) => sound.filter((_, i) => i % 2 === side);

test('sound is as long as the film, fades from and to silence, is heard throughout and never clips', async () => {
  for (const [seed, seconds] of [
    ['a', 4],
    ['b', 5],
  ] as const) {
    const sound = await composeSoundtrack(seed, seconds);
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

test('a seed has its own sound, always the same', async () => {
  assert.deepEqual(await composeSoundtrack('a', 4), await composeSoundtrack('a', 4));
  assert.notDeepEqual(await composeSoundtrack('a', 4), await composeSoundtrack('b', 4));
});

test('a seed has the same sound in every release', async () => {
  for (const [seed, seconds, expected] of [
    ['a', 4, [0.0825, 0.1396, 0.1345, 0.1298, 0.1109, 0.0741, 0.1132, 0.0445]],
    ['b', 3, [0.0779, 0.1295, 0.1364, 0.1314, 0.109, 0.0236]],
  ] as const) {
    const samples = channel(await composeSoundtrack(seed, seconds), 0);
    // The loudness of each half second; engines may differ in the last digits of a sine.
    for (const [half, loudness] of expected.entries()) {
      const part = samples.subarray((half * samplesPerSecond) / 2, ((half + 1) * samplesPerSecond) / 2);
      const found = Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length);
      assert.ok(Math.abs(found - loudness) < 0.0001, `half second ${half} of ${seed}: ${found}`);
    }
  }
});
