import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseArgs } from 'node:util';
import { describeFields, parseFieldSetting } from '../../../src/run/cli/generate/parse-and-describe-model-fields.ts';
import { standardModelInput } from '../../../src/catalogue/input/task-input.ts';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { inputErrorsOfModel } from '../../../src/catalogue/models/input-refusals-and-untried-tiers.ts';
import { priceOfInputAt } from '../../../src/catalogue/prices/model-prices.ts';
import { inputJsonSchema } from '../../../src/tasks/accept/documented-task-request.ts';
import { createTaskRequestParser } from '../../../src/tasks/accept/parse-task-request.ts';
import { argumentsOf, documentedRecipes } from '../../support/documents/documented-examples.ts';

const prices = [{ creditsPerSecond: 7 }];

function read(text: string): Catalogue {
  return readCatalogueOrThrow({ path: 'models.json', readText: () => text });
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
    input: standardModelInput,
    prices: [{ name: 'standard', when: {}, amounts: [{ creditsPerSecond: 7, creditsPerVideo: 0, fromMs: 0 }] }],
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

test('the help of a model has whole bounds for its rounded duration, and all others as they are declared', () => {
  const strength = { type: 'number', minimum: 0.1, maximum: 1 };
  const duration = { type: 'number', minimum: 3.5, exclusiveMaximum: 15.5 };
  const inputSchema = { type: 'object', properties: { duration, options: { properties: { strength } } } };
  const lines = describeFields({ model: 'm', title: 'M', inputSchema }).join('\n');
  assert.match(lines, /duration +4 to 15$/m);
  assert.match(lines, /strength +0\.1 to 1$/m);
});

test('a field that is given twice in JSON counts the second time', () => {
  const text = `{"models": 7, "models": [{"model": "m", "title": "A", "title": "B", "prices": ${JSON.stringify(prices)}}]}`;
  assert.equal(read(text).models.get('m')?.title, 'B');
});

const kindPages = readdirSync('docs/providers').map((page) => `docs/providers/${page}`);

/** A workflow that passes on everything that the recipes for ComfyUI sell. */
const workflow = JSON.stringify({
  '1': { class_type: 'Size', inputs: { width: '{{width:32}}', height: '{{height:32}}', resolution: '{{resolution}}' } },
  '2': { class_type: 'Sampler', inputs: { steps: '{{option:steps}}', seed: '{{seed}}', no: '{{negativePrompt}}' } },
  '3': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
});

function readRecipe(text: string): Catalogue {
  const readText = (path: string) => (path.endsWith('.json') ? workflow : text);
  return readCatalogueOrThrow({ path: '/etc/videogen/catalogue.yaml', readText });
}

for (const document of ['README.md', 'docs/tutorial.md', 'docs/models.md', ...kindPages]) {
  for (const [index, { text }] of documentedRecipes(document).entries()) {
    test(`recipe ${index + 1} of ${document} is a whole catalogue`, () => {
      const { models } = readRecipe(text);
      assert.ok([...models.values()].every(({ isRemote }) => isRemote));
    });
  }
}

test('docs/models.md has six recipes, each with a command whose request its model accepts at a price', () => {
  const recipes = documentedRecipes('docs/models.md');
  assert.equal(recipes.length, 6);
  for (const { text, command = '' } of recipes) {
    const catalogue = readRecipe(text);
    const [model] = catalogue.models.values();
    assert.ok(model);
    const [, prompt, ...args] = argumentsOf(command);
    const { values } = parseArgs({
      args,
      options: {
        model: { type: 'string' },
        resolution: { type: 'string' },
        duration: { type: 'string' },
        set: { type: 'string', multiple: true },
      },
    });
    assert.equal(values.model, model.model);
    const offered = { model: model.model, title: model.title, inputSchema: inputJsonSchema(model.input) } as never;
    const fields = (values.set ?? []).map((setting) => parseFieldSetting(offered, setting));
    const valueOf = ({ isMedia, isList, value }: (typeof fields)[number]) => {
      const one = isMedia ? `https://example.com/${value}` : value;
      return isList ? [one] : one;
    };
    const entries = (isOption: boolean) =>
      Object.fromEntries(fields.filter((one) => one.isOption === isOption).map((one) => [one.name, valueOf(one)]));
    const parse = createTaskRequestParser({
      offer: catalogue,
      refuseMediaUrl: () => undefined,
      refuseCallbackUrl: () => undefined,
      inputErrorsOfModel: ({ input }) => inputErrorsOfModel(model, input),
    });
    const { resolution, duration } = values;
    const input = {
      prompt,
      ...(resolution !== undefined && { resolution }),
      ...(duration !== undefined && { duration: Number(duration) }),
      ...entries(false),
      options: fields.some(({ isOption }) => isOption) ? entries(true) : undefined,
    };
    const parsed = parse({ model: model.model, input });
    assert.ok(parsed.ok, `${command}: ${JSON.stringify(parsed)}`);
    assert.ok(priceOfInputAt(model.prices, parsed.param.input, Date.now()), command);
  }
});
