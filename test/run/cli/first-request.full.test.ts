import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue, readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { sampleGenerateOptionsOf } from '../../../src/run/cli/generate/generation-options-and-task-request.ts';

const providers = { script: { kind: 'own', baseUrl: 'http://127.0.0.1:9000' } };

function optionsFor(...models: readonly object[]): string {
  const sold = models.map((model) => ({
    title: 'M',
    prices: [{ creditsPerSecond: 1 }],
    providers: ['script'],
    ...model,
  }));
  return sampleGenerateOptionsOf(
    readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ providers, models: sold }) }),
  ).join(' ');
}

test('the start proposes a first video that the catalogue offers', () => {
  assert.equal(sampleGenerateOptionsOf(builtInCatalogue()).join(' '), '--duration 4');
  assert.equal(optionsFor({ model: 'videogen-2.0' }), '--duration 4 --model videogen-2.0');
  assert.equal(optionsFor({ model: 'wan', rules: { durations: [5] } }, { model: 'other' }), '--duration 5 --model wan');
  assert.equal(
    optionsFor({ model: 'wan' }, { model: 'videogen-2.0-fast', rules: { durations: [6, 8] } }),
    '--duration 6',
  );
});
