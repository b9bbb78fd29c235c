import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCatalogueFile } from '../src/catalogue-file.ts';
import { ConfigError } from '../src/domain/errors.ts';
import { type Model, unknownProviders } from '../src/domain/models.ts';
import { parseModelsFile } from '../src/models-file.ts';

// Files of the loader in src/models-file.ts keep their meaning in the catalogue, and what it refuses stays refused.

const providers = ['preview', 'other'];
/** The name that the loader has for prices; files may also have the other one. */
const loaderName = 'prices';
const priceNames = ['rates', 'prices'];

/** The models of a file as its loader reads it; undefined when it refuses the file. */
function modelsBefore(file: unknown): readonly Model[] | undefined {
  try {
    const models = parseModelsFile(spelled(file, loaderName));
    return unknownProviders(models, providers).length === 0 ? models : undefined;
  } catch {
    return undefined;
  }
}

/** The same by the catalogue, without what files of before cannot say. */
function modelsNow(text: string): readonly Model[] | undefined {
  try {
    const { models } = readCatalogueFile({ path: 'x', builtIn: providers, readText: () => text });
    return [...models.values()].map(({ tiers, fit, isRemote, ...rest }) => {
      assert.deepEqual([fit, isRemote], ['keep', false]);
      assert.deepEqual(
        tiers.map((tier) => tier.map(({ provider }) => provider)),
        rest.providers.map((provider) => [provider]),
      );
      return rest;
    });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return undefined;
  }
}

function spelled(file: unknown, name: string): string {
  return JSON.stringify(file).replaceAll(/"(?:rates|prices)":/g, `"${name}":`);
}

/** Each provider is asked once, so naming one twice has no meaning. */
function withoutRepeats(models: readonly Model[] | undefined) {
  return models?.map((model) => ({ ...model, providers: [...new Set(model.providers)] }));
}

function assertAsBefore(file: unknown): readonly Model[] | undefined {
  const before = modelsBefore(file);
  for (const name of priceNames) assert.deepEqual(modelsNow(spelled(file, name)), withoutRepeats(before));
  return before;
}

const rates = [{ creditsPerSecond: 7 }];
const fixtures: Readonly<Record<string, readonly object[]>> = {
  'a price of its own': [{ model: 'm', title: 'M', rates }],
  'built-in aliases, but for those that the file uses otherwise': [
    { model: 'videogen-2.0', title: 'Ours', rates },
    { model: 'bytedance/seedance-2', title: 'Theirs', rates },
    { model: 'videogen-2.0-fast', title: 'None', rates, aliases: [] },
    { model: 'house', title: 'House', rates, aliases: ['bytedance/seedance-1.5-pro', 'villa'] },
  ],
  'a name that is a built-in alias': [
    { model: 'bytedance/seedance-2', title: 'Ours', rates, aliases: ['house-model'] },
    { model: 'videogen-2.0', title: 'Ours', rates },
  ],
  'deadlines and providers': [
    { model: 'breaker-hasty', title: 'breaker-hasty', rates, deadlineSeconds: 12, providers: ['preview'] },
    {
      model: 'breaker-paid',
      title: 'breaker-paid',
      rates,
      deadlineSeconds: 600,
      providers: ['other', 'preview', 'other'],
    },
  ],
  'a price of the past, one of now and one to come': [
    {
      model: 'm',
      title: 'M',
      rates: [...rates, { creditsPerSecond: 8, from: '2020-01-01T01:00:00+01:00' }].concat({
        creditsPerSecond: 9,
        from: '2999-01-01T00:00:00Z',
      }),
    },
  ],
};

test('files of before load with the same meaning', () => {
  for (const [what, models] of Object.entries(fixtures)) assert.ok(assertAsBefore({ models }), what);
});

test('the catalogues in the documentation load with the same meaning', () => {
  const pages = ['docs/dialect-kie.md', 'docs/operations.md', 'README.md']
    .map((page) => readFileSync(page, 'utf8'))
    .join();
  const examples = [...pages.matchAll(/```json\n(\{\s*"models"[\s\S]*?)```/g)].map(([, json = '']) => json);
  assert.ok(examples.length > 0);
  for (const json of examples) assert.ok(assertAsBefore(JSON.parse(json)), json);
});

test('a field that is given twice in JSON counts the second time, as before', () => {
  const [first, second] = [
    '{"models": 7, "models": [{"model": "m", "title": "A", "title": "B", ',
    ': [{"creditsPerSecond": 7}]}]}',
  ];
  const before = parseModelsFile(`${first}"${loaderName}"${second}`);
  assert.deepEqual(modelsNow(`${first}"${loaderName}"${second}`), before);
});

const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const rarely = <T>(value: fc.Arbitrary<T>, wrong: readonly unknown[]) =>
  fc.oneof({ weight: 25, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
const name = fc.oneof(
  fc.stringMatching(/^[\w./-]{1,12}$/),
  fc.constantFrom('videogen-2.0', 'videogen-2.0-fast', 'bytedance/seedance-2', 'm'),
);
const instant = fc.constantFrom(
  '1970-01-01T00:00:00Z',
  '2020-01-01T00:00:00Z',
  '2020-01-01T01:00:00+01:00',
  '2999-01-01T00:00:00Z',
);
const price = fc.record({
  creditsPerSecond: rarely(fc.integer({ min: 1, max: 1_000_000 }), [0, 1.5, '7', 1_000_001]),
  from: sometimes(rarely(instant, ['yesterday', 0, '2020-01-01'])),
});
const model = fc.record({
  model: rarely(name, ['', 'a b', 7, 'x'.repeat(101)]),
  title: rarely(fc.string({ minLength: 1, maxLength: 20 }), ['', 'x'.repeat(201), null]),
  rates: rarely(fc.array(price, { minLength: 1, maxLength: 3 }), [[], undefined, {}]),
  aliases: sometimes(rarely(fc.array(name, { maxLength: 3 }), ['m', [7]])),
  providers: sometimes(
    rarely(fc.array(fc.constantFrom(...providers), { minLength: 1, maxLength: 4 }), [[], ['previw'], 'preview']),
  ),
  deadlineSeconds: sometimes(rarely(fc.integer({ min: 10, max: 86_400 }), [9, 86_401, 1.5, '30'])),
  note: rarely(fc.constant(undefined), ['x']),
});
const file = fc.record({ models: rarely(fc.array(model, { minLength: 1, maxLength: 4 }), [[], {}, null]) });

test('any file is accepted, with the same meaning, or refused as before', () => {
  let accepted = 0;
  const check = (one: unknown) => {
    // As the loader would read it: what is undefined is not in the file.
    if (assertAsBefore(JSON.parse(JSON.stringify(one))) !== undefined) accepted += 1;
  };
  fc.assert(fc.property(file, check), { seed: 20_261_122, numRuns: 250 });
  assert.ok(accepted > 25 && accepted < 225, `${accepted} of 250 were accepted`);
});
