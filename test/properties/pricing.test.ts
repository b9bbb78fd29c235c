import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultModels, modelCatalogue } from '../../src/domain/models.ts';
import { comingPrices, priceAt, type PriceSchedule } from '../../src/domain/price.ts';
import { inputLimits } from '../../src/domain/task-input.ts';
import { createTaskRequestParser } from '../../src/domain/task-request.ts';
import type { TaskParam } from '../../src/domain/task.ts';
import { runs } from '../support/property.ts';

const models = modelCatalogue(defaultModels);
const parse = createTaskRequestParser({
  offer: { models, limits: inputLimits },
  refuseImageUrl: () => undefined,
  refuseCallbackUrl: () => undefined,
});

/** Instants are few, so that prices often begin at the same one, or at the very one that is asked about. */
const instant = fc.nat({ max: 40 });
const creditsPerSecond = fc.integer({ min: 1, max: 100_000 });
const listed = fc
  .uniqueArray(fc.record({ creditsPerSecond, fromMs: instant }), { maxLength: 4, selector: ({ fromMs }) => fromMs })
  .map((prices) => [{ creditsPerSecond: 33, fromMs: -1 }, ...prices]);
const decided = fc.array(
  fc.record({ creditsPerSecond: fc.option(creditsPerSecond, { nil: undefined }), fromMs: instant }),
  { maxLength: 5 },
);
const schedule: fc.Arbitrary<PriceSchedule> = fc.record({ own: decided, general: decided, listed });

/** The rule as it would be followed by hand: go through all that was decided in order of time, and remember the last word. */
function lastWord(prices: PriceSchedule['own'], atMs: number): number | undefined {
  let word: PriceSchedule['own'][number] | undefined;
  for (const price of prices) if (price.fromMs <= atMs && price.fromMs >= (word?.fromMs ?? -1)) word = price;
  return word?.creditsPerSecond;
}

test("the latest beginning counts, an account's own price before the general one, and both before the catalogue's", () => {
  fc.assert(
    fc.property(schedule, instant, (all, atMs) => {
      const byHand = lastWord(all.own, atMs) ?? lastWord(all.general, atMs) ?? lastWord(all.listed, atMs);
      assert.equal(priceAt(all, atMs), byHand);
    }),
    runs(12_000),
  );
  assert.throws(() => priceAt({ own: [], general: [], listed: [] }, 0));
});

test('what is announced tells the price of every later instant, and announces nothing that changes nothing', () => {
  fc.assert(
    fc.property(schedule, instant, (all, nowMs) => {
      const coming = comingPrices(all, nowMs);
      for (let atMs = nowMs; atMs <= 41; atMs += 1) {
        const told = coming.filter(({ fromMs }) => fromMs <= atMs).at(-1)?.creditsPerSecond ?? priceAt(all, nowMs);
        assert.equal(told, priceAt(all, atMs));
      }
      const told = [priceAt(all, nowMs), ...coming.map((price) => price.creditsPerSecond)];
      assert.ok(told.every((price, index) => price !== told[index + 1]));
    }),
    runs(12_000),
  );
});

/** What the charge is made from, while no operator has decided anything. */
function listedCharge({ model, input }: TaskParam): number {
  return input.duration * priceAt({ own: [], general: [], listed: models.get(model)?.prices ?? [] }, Date.now());
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
