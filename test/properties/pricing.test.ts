import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chargeFor, defaultModels, type Model, modelCatalogue, rateAt } from '../../src/domain/models.ts';
import { createTaskRequestParser } from '../../src/domain/task-request.ts';

const seed = 20_261_121;
const models = modelCatalogue(defaultModels);
const parse = createTaskRequestParser({ models, refuseImageUrl: () => undefined, refuseCallbackUrl: () => undefined });

const ratesOf = fc.uniqueArray(
  fc.record({ creditsPerSecond: fc.integer({ min: 1, max: 100_000 }), fromMs: fc.nat({ max: 1_000 }) }),
  { minLength: 1, maxLength: 6, selector: ({ fromMs }) => fromMs },
);

function modelWith(rates: Model['rates']): Model {
  return { model: 'm', title: 'm', rates, providers: [], deadlineMs: 1 };
}

test('the rate in force is that of the latest beginning, in whatever order the catalogue names them', () => {
  fc.assert(
    fc.property(ratesOf, fc.nat({ max: 1_200 }), (rates, atMs) => {
      let inForce: Model['rates'][number] | undefined;
      for (const rate of rates) if (rate.fromMs <= atMs && rate.fromMs >= (inForce?.fromMs ?? 0)) inForce = rate;
      if (inForce === undefined) assert.throws(() => rateAt(modelWith(rates), atMs));
      else assert.equal(rateAt(modelWith(rates), atMs), inForce.creditsPerSecond);
    }),
    { seed, numRuns: 1_000 },
  );
});

test('the charge is a whole number of credits, the rate times the seconds, and never less for a longer video', () => {
  fc.assert(
    fc.property(ratesOf, fc.integer({ min: 4, max: 14 }), (rates, seconds) => {
      const model = modelWith(rates);
      const charge = chargeFor(model, seconds, 1_000);
      assert.ok(Number.isSafeInteger(charge) && charge > 0);
      assert.equal(charge, seconds * rateAt(model, 1_000));
      assert.equal(chargeFor(model, seconds + 1, 1_000) - charge, rateAt(model, 1_000));
    }),
    { seed, numRuns: 1_000 },
  );
});

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
      const model = models.get('videogen-2.0-fast');
      assert.ok(model);
      assert.equal(chargeFor(model, parsed.param.input.duration, Date.now()), 33 * rounded);
    }),
    { seed, numRuns: 3_000 },
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
      const model = models.get(parsed.param.model);
      assert.ok(model);
      assert.equal(chargeFor(model, parsed.param.input.duration, Date.now()), 41 * duration);
    }),
    { seed, numRuns: 300 },
  );
});
