import assert from 'node:assert/strict';
import { test } from 'node:test';
import { soundtrack } from '../../../../src/providers/preview/sound/soundtrack.ts';

test('sound is as long as the film, fades from and to silence, is heard throughout and never clips', async () => {
  for (const [seed, seconds] of [
    ['a', 4],
    ['b', 5],
    ['c', 15],
  ] as const) {
    const { left, right } = await soundtrack(seed, seconds);
    for (const channel of [left, right]) {
      assert.equal(channel.length, seconds * 48_000);
      assert.deepEqual([Math.abs(channel[0] ?? 1), Math.abs(channel.at(-1) ?? 1)], [0, 0]);
      for (let second = 0; second < seconds; second++) {
        const loudest = channel
          .slice(second * 48_000, (second + 1) * 48_000)
          .reduce((a, b) => Math.max(a, Math.abs(b)), 0);
        assert.ok(loudest > 0.02 && loudest <= 0.501, `second ${second} of ${seed}: ${loudest}`);
      }
    }
  }
});

test('a seed has its own sound, always the same', async () => {
  assert.deepEqual(await soundtrack('a', 4), await soundtrack('a', 4));
  assert.notDeepEqual(await soundtrack('a', 4), await soundtrack('b', 4));
});
