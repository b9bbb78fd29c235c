import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { standardInput } from '../../src/tasks/task-input.ts';
import { readCatalogueFile } from '../../src/models/catalogue-file.ts';
import type { Catalogue } from '../../src/models/catalogue/models.ts';

const prices = [{ creditsPerSecond: 7 }];

function read(text: string): Catalogue {
  return readCatalogueFile({ path: 'models.json', readText: () => text });
}

test('the catalogues in the documentation load', () => {
  const pages = ['docs/dialect-kie.md', 'docs/tutorial.md', 'README.md']
    .map((page) => readFileSync(page, 'utf8'))
    .join();
  const examples = [...pages.matchAll(/```json\n(\{\s*"models"[\s\S]*?)```/g)].map(([, json = '']) => json);
  assert.ok(examples.length > 0);
  for (const json of examples) assert.ok(read(json).models.size > 0, json);
});

test('providers of a model are its tiers in their order, each once', () => {
  const model = { model: 'm', title: 'M', deadlineSeconds: 600, providers: ['preview', 'preview'], prices };
  const { tiers, ...rest } = read(JSON.stringify({ models: [model] })).models.get('m') ?? assert.fail();
  assert.deepEqual(rest, {
    model: 'm',
    title: 'M',
    aliases: [],
    input: standardInput,
    prices: [{ creditsPerSecond: 7, fromMs: 0 }],
    providers: ['preview'],
    deadlineMs: 600_000,
    fit: 'keep',
    lastFrame: false,
    isRemote: false,
  });
  assert.deepEqual(
    tiers.map((tier) => tier.map(({ provider }) => provider)),
    [['preview']],
  );
});

test('a field that is given twice in JSON counts the second time', () => {
  const text = `{"models": 7, "models": [{"model": "m", "title": "A", "title": "B", "prices": ${JSON.stringify(prices)}}]}`;
  assert.equal(read(text).models.get('m')?.title, 'B');
});

const kindPages = readdirSync('docs/providers').map((page) => `docs/providers/${page}`);
for (const document of ['README.md', 'docs/tutorial.md', ...kindPages]) {
  const recipes = [...readFileSync(document, 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
  for (const [index, recipe] of recipes.entries()) {
    test(`recipe ${index + 1} of ${document} is a whole catalogue`, () => {
      const workflow = JSON.stringify({ '1': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } } });
      const readText = (path: string) => (path.endsWith('.json') ? workflow : recipe);
      const { models } = readCatalogueFile({ path: '/etc/videogen/catalogue.yaml', readText });
      assert.ok([...models.values()].every(({ isRemote }) => isRemote));
    });
  }
}
