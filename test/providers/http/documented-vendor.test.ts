import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCatalogueOrThrow, readProviderFileAt } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { priceOfInputAt } from '../../../src/catalogue/prices/model-prices.ts';
import { playExample } from '../../../src/providers/http/play-example-exchanges.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';

test('the worked vendor of docs/providers/http.md: its file passes its example, and its catalogue sells the model at the stated price', async (t) => {
  const page = await readFile('docs/providers/http.md', 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'videogen-vendor-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const name of ['acme.yaml', 'catalogue.yaml']) {
    const [, text] = new RegExp(`^\`\`\`yaml\\n(# ${name}\\n.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
    assert.ok(text, name);
    await writeFile(join(folder, name), text);
  }
  const played = await playExample(readProviderFileAt(join(folder, 'acme.yaml')));
  assert.equal(played.length, 5);
  for (const { exchange, differences } of played)
    assert.deepEqual(differences, [], `${exchange.step} ${exchange.means}`);
  const model = readCatalogueOrThrow({ path: join(folder, 'catalogue.yaml') }).models.get('fox');
  assert.ok(model);
  const input = withDefaults({ prompt: 'a fox runs through snow', duration: 5 }, model.input);
  const price = priceOfInputAt(model.prices, input, Date.now());
  assert.equal((price?.creditsPerSecond ?? 0) * 5, 300);
  assert.match(page, /It costs 300 credits/);
});
