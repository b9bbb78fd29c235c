import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import type { TierEntry } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';

const baseUrl = 'http://upstream.example';
const cost = { currency: 'USD', perSecond: 0.1 };
const providers = {
  box: { kind: 'own', baseUrl, limit: 3, cost, rules: { durations: [5, 8, 10], audio: 'always' } },
  ark: { kind: 'ark', baseUrl },
};

function entriesOf(model: object): readonly TierEntry[] {
  const data = { providers, models: [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }], ...model }] };
  const { catalogue, problems } = resolveCatalogue(data);
  assert.deepEqual(problems, []);
  return catalogue?.models.get('m')?.tiers.flat() ?? [];
}

test("an entry has its provider's limit and cost unless it has its own", () => {
  const own = { provider: 'box', model: 'small', limit: 1, cost: { currency: 'EUR', perJob: 2 } };
  const entries = entriesOf({ tiers: [[{ provider: 'box' }, own], [{ provider: 'ark' }]] });
  assert.deepEqual(
    entries.map(({ pool, limit, weight, cost: rule }) => [pool, limit, weight, rule]),
    [
      ['box/m', 3, 1, { currency: 'USD', perSecond: 100_000 }],
      ['box/small', 1, 1, { currency: 'EUR', perJob: 2_000_000 }],
      ['ark/m', 20, 1, undefined],
    ],
  );
});

test('the rules of kind, model, provider and entry all apply', () => {
  const tiers = [[{ provider: 'box', rules: { durations: { max: 8 } } }], [{ provider: 'ark', model: 'seedance-2-5' }]];
  const [box, ark] = entriesOf({ tiers, rules: { durations: [4, 5, 8, 10], maxPromptCharacters: 100 } });
  assert.deepEqual([box?.rules.durations, box?.rules.maxPromptCharacters, box?.rules.audio], [[5, 8], 100, 'always']);
  assert.deepEqual([ark?.rules.durations, ark?.rules.ratiosWithImages], [[4, 5, 8, 10], ['adaptive']]);
});

test('an entry is plain JSON, to be stored with the tasks that wait for it', () => {
  const entries = entriesOf({ tiers: [[{ provider: 'box', parameters: { steps: 20, nested: { list: [1, null] } } }]] });
  assert.deepEqual(JSON.parse(JSON.stringify(entries)), entries);
});

test('a built-in name keeps its aliases except those that another model has, unless the file declares its own', () => {
  const aliasesOf = (...models: readonly object[]) => {
    const priced = models.map((model) => ({ title: 'M', prices: [{ creditsPerSecond: 1 }], ...model }));
    const { catalogue } = resolveCatalogue({ models: priced });
    return catalogue?.models.get('videogen-2.0')?.aliases;
  };
  const builtIn = { model: 'videogen-2.0' };
  const all = aliasesOf(builtIn) ?? [];
  const [first, second, ...others] = all;
  assert.ok(first !== undefined && second !== undefined);
  assert.deepEqual(aliasesOf(builtIn, { model: first }, { model: 'other', aliases: [second] }), others);
  assert.deepEqual(aliasesOf({ ...builtIn, aliases: ['mine'] }), ['mine']);
  assert.deepEqual(aliasesOf({ ...builtIn, aliases: [] }), []);
});
