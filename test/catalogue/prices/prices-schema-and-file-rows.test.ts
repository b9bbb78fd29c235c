import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultModels } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { pricedMedia } from '../../../src/catalogue/prices/model-prices.ts';
import { mediaFields } from '../../../src/catalogue/input/task-input.ts';
import { resolve } from '../file/price-table.ts';

test('rows with the same conditions are one price over time, named after them and in the order of its first row', () => {
  const { prices, problems } = resolve([
    { when: { generateAudio: false, resolution: '1080p' }, creditsPerSecond: 82, from: '2027-01-01T00:00:00Z' },
    { when: { options: { tier: 'pro', fast: true }, videoUrls: 'present' }, creditsPerVideo: 500 },
    { when: { resolution: '1080p', generateAudio: false }, creditsPerSecond: 80, creditsPerVideo: 1 },
    { name: 'everything else', creditsPerSecond: 12, from: '1970-01-01T01:00:00+01:00' },
    { creditsPerSecond: 11, from: '2099-01-01T00:00:00Z' },
  ]);
  assert.deepEqual(problems, []);
  const begin = Date.parse('2027-01-01T00:00:00Z');
  assert.deepEqual(prices, [
    {
      name: '1080p silent',
      when: { resolution: '1080p', generateAudio: false },
      amounts: [
        { creditsPerSecond: 80, creditsPerVideo: 1, fromMs: 0 },
        { creditsPerSecond: 82, creditsPerVideo: 0, fromMs: begin },
      ],
    },
    {
      name: 'fast on tier pro with videoUrls',
      when: { options: { tier: 'pro', fast: true }, videoUrls: 'present' },
      amounts: [{ creditsPerSecond: 0, creditsPerVideo: 500, fromMs: 0 }],
    },
    {
      name: 'everything else',
      when: {},
      amounts: [
        { creditsPerSecond: 12, creditsPerVideo: 0, fromMs: 0 },
        { creditsPerSecond: 11, creditsPerVideo: 0, fromMs: Date.parse('2099-01-01T00:00:00Z') },
      ],
    },
  ]);
});

test('the built-in catalogue costs 41 and 33 credits a second, at a price named standard', () => {
  const prices = [...builtInCatalogue().models.values()].map((model) => model.prices);
  const standard = (creditsPerSecond: number) => [
    { name: 'standard', when: {}, amounts: [{ creditsPerSecond, creditsPerVideo: 0, fromMs: 0 }] },
  ];
  assert.deepEqual(prices, [standard(41), standard(33)]);
  assert.deepEqual(
    defaultModels.map((model) => model.prices),
    prices,
  );
});

test('a price may depend on every field of reference media', () => {
  assert.deepEqual(
    [...pricedMedia],
    mediaFields.map(({ name }) => name),
  );
});
