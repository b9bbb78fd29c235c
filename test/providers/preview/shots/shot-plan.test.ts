import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shotPlan } from '../../../../src/providers/preview/shots/shot-plan.ts';

test('the parts make exactly the film, every shot is seen in order, without a gap or a jump', () => {
  for (let shots = 1; shots <= 9; shots++) {
    for (let filmFrames = 96; filmFrames <= 360; filmFrames += 24) {
      const { parts, shotFrames } = shotPlan(shots, filmFrames);
      const seen = Array.from({ length: shots }, () => 0);
      let frames = 0;
      for (const { below, above } of parts) {
        for (const part of above === undefined ? [below] : [below, above]) {
          assert.equal(part.fromShotFrame, seen[part.shot]);
          assert.equal(part.frames, below.frames);
          assert.ok(part.frames > 0);
          seen[part.shot] = part.fromShotFrame + part.frames;
        }
        frames += below.frames;
      }
      assert.equal(frames, filmFrames);
      assert.deepEqual(seen, shotFrames);
      assert.deepEqual(
        parts.filter(({ above }) => above === undefined).map(({ below }) => below.shot),
        [...seen.keys()],
      );
    }
  }
});
