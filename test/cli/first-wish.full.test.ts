import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue, readCatalogueFile } from '../../src/catalogue-file.ts';
import { firstWish } from '../../src/cli/generation-options.ts';

const providers = { script: { kind: 'own', baseUrl: 'http://127.0.0.1:9000' } };

function wishOf(...models: readonly object[]): string {
  const sold = models.map((model) => ({
    title: 'M',
    prices: [{ creditsPerSecond: 1 }],
    providers: ['script'],
    ...model,
  }));
  return firstWish(readCatalogueFile({ path: 'x', readText: () => JSON.stringify({ providers, models: sold }) })).join(
    ' ',
  );
}

test('the first video that the start proposes is one that the catalogue sells', () => {
  assert.equal(firstWish(builtInCatalogue()).join(' '), '--duration 4');
  assert.equal(wishOf({ model: 'videogen-2.0' }), '--duration 4 --model videogen-2.0');
  assert.equal(wishOf({ model: 'wan', rules: { durations: [5] } }, { model: 'other' }), '--duration 5 --model wan');
  assert.equal(wishOf({ model: 'wan' }, { model: 'videogen-2.0-fast', rules: { durations: [6, 8] } }), '--duration 6');
});
