import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultModels, indexModelsByName } from '../../src/catalogue/models/model-type-and-name-lookup.ts';
import { createTaskRequestParser } from '../../src/tasks/accept/parse-task-request.ts';
import type { TaskParam } from '../../src/catalogue/tasks/task.ts';
import { runs } from '../support/property.ts';

const models = indexModelsByName(defaultModels);
const parse = createTaskRequestParser({
  offer: { models },
  refuseMediaUrl: () => undefined,
  refuseCallbackUrl: () => undefined,
});

/** The charge without operators' prices. */
function listedCharge({ model, input }: TaskParam): number {
  const [price] = models.get(model)?.prices ?? [];
  return input.duration * (price?.amounts[0]?.creditsPerSecond ?? NaN);
}

test('a duration is rounded half up, then must lie in 4 to 15, and what is charged is what was rounded to', () => {
  const near = fc
    .tuple(fc.integer({ min: 2, max: 17 }), fc.double({ min: 0, max: 1, noNaN: true }))
    .map(([a, b]) => a + b);
  const any = fc.oneof(
    { weight: 5, arbitrary: near },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  );
  fc.assert(
    fc.property(any, (duration) => {
      const below = Math.floor(duration);
      const rounded = duration - below >= 0.5 ? below + 1 : below;
      const parsed = parse({ model: 'videogen-2.0-fast', input: { prompt: 'p', duration } });
      assert.equal(parsed.ok, rounded >= 4 && rounded <= 15, `${duration}`);
      if (!parsed.ok) return;
      assert.equal(parsed.param.input.duration, rounded);
      assert.equal(listedCharge(parsed.param), 33 * rounded);
    }),
    runs(12_000),
  );
});

test('audio and reference images never change what is charged', () => {
  const input = fc.record({
    generateAudio: fc.boolean(),
    imageUrls: fc.array(fc.constant('https://images.example/a.png'), { maxLength: 9 }),
    ratio: fc.constantFrom('adaptive', '16:9', '1:1', '21:9'),
  });
  fc.assert(
    fc.property(input, fc.integer({ min: 4, max: 15 }), (extras, duration) => {
      const parsed = parse({ model: 'videogen-2.0', input: { prompt: 'p', duration, ...extras } });
      assert.ok(parsed.ok);
      assert.equal(listedCharge(parsed.param), 41 * duration);
    }),
    runs(1_200),
  );
});
