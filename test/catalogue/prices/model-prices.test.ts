import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  conditionsKey,
  creditsForDuration,
  nameFromConditions,
  matchingAmountsInOrder,
  matchesConditions,
  type PriceConditions,
  priceOfInputAt,
  type PricedInput,
  type CataloguePrice,
} from '../../../src/catalogue/prices/model-prices.ts';

const input: PricedInput = {
  resolution: '1080p',
  generateAudio: false,
  options: { tier: 'pro', steps: 20, fast: false },
  imageUrls: [],
  firstFrameUrl: 'https://media.example/a.png',
  videoUrls: ['https://media.example/a.mp4'],
};

const cases: readonly (readonly [when: PriceConditions, matches: boolean, name: string])[] = [
  [{}, true, 'standard'],
  [{ options: {} }, true, 'standard'],
  [{ resolution: '1080p' }, true, '1080p'],
  [{ resolution: '720p' }, false, '720p'],
  [{ generateAudio: false }, true, 'silent'],
  [{ generateAudio: true }, false, 'with sound'],
  [{ options: { tier: 'pro' } }, true, 'tier pro'],
  [{ options: { tier: 'std' } }, false, 'tier std'],
  [{ options: { steps: 20, fast: false } }, true, 'fast off steps 20'],
  [{ options: { steps: '20' } }, false, 'steps 20'],
  [{ options: { style: 'anime' } }, false, 'style anime'],
  [{ imageUrls: 'absent' }, true, 'without imageUrls'],
  [{ imageUrls: 'present' }, false, 'with imageUrls'],
  [{ firstFrameUrl: 'present' }, true, 'with firstFrameUrl'],
  [{ firstFrameUrl: 'absent' }, false, 'without firstFrameUrl'],
  [{ lastFrameUrl: 'absent' }, true, 'without lastFrameUrl'],
  [{ videoUrls: 'present' }, true, 'with videoUrls'],
  [{ audioUrls: 'present' }, false, 'with audioUrls'],
  [{ videoUrls: 'present', resolution: '1080p', generateAudio: false }, true, '1080p silent with videoUrls'],
  [{ videoUrls: 'present', resolution: '1080p', generateAudio: true }, false, '1080p with sound with videoUrls'],
];

for (const [when, isMet, name] of cases) {
  test(`${JSON.stringify(when)} is named ${name} and ${isMet ? 'holds' : 'does not hold'} for the input`, () => {
    assert.deepEqual([matchesConditions(when, input), nameFromConditions(when)], [isMet, name]);
  });
}

test('the order of conditions and of options does not matter', () => {
  const one = { resolution: '1080p', options: { a: 1, b: true }, videoUrls: 'present' } as const;
  const other = {
    videoUrls: 'present',
    options: { b: true, a: 1 },
    resolution: '1080p',
    imageUrls: undefined,
  } as const;
  assert.equal(conditionsKey(one), conditionsKey(other));
  assert.notEqual(conditionsKey(one), conditionsKey({ ...one, options: { a: 1, b: 'true' } }));
});

const rate = (creditsPerSecond: number, fromMs: number, creditsPerVideo = 0) => ({
  creditsPerSecond,
  creditsPerVideo,
  fromMs,
});
const rows: readonly CataloguePrice[] = [
  { name: 'high', when: { resolution: '1080p' }, amounts: [rate(80, 2_000), rate(90, 5_000)] },
  { name: 'low', when: { resolution: '480p' }, amounts: [rate(10, 0)] },
  { name: 'standard', when: {}, amounts: [rate(40, 1_000, 7), rate(50, 3_000)] },
];

test('the first price that has begun and matches applies, with its latest amounts', () => {
  const at = (atMs: number, resolution: PricedInput['resolution'] = '1080p') => {
    const found = priceOfInputAt(rows, { resolution }, atMs);
    return found && [found.name, creditsForDuration(found, 10)];
  };
  assert.equal(at(999), undefined);
  assert.deepEqual(
    [at(1_000), at(1_999), at(2_000)],
    [
      ['standard', 407],
      ['standard', 407],
      ['high', 800],
    ],
  );
  assert.deepEqual(
    [at(4_999), at(5_000)],
    [
      ['high', 800],
      ['high', 900],
    ],
  );
  assert.deepEqual(
    [at(0, '480p'), at(9_000, '480p'), at(9_000, '720p')],
    [
      ['low', 100],
      ['low', 100],
      ['standard', 500],
    ],
  );
});

test('the amounts that may apply are listed in the order of decision', () => {
  assert.deepEqual(
    matchingAmountsInOrder(rows, { resolution: '1080p' }).map(({ name, fromMs }) => [name, fromMs]),
    [
      ['high', 5_000],
      ['high', 2_000],
      ['standard', 3_000],
      ['standard', 1_000],
    ],
  );
});
