import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultModels,
  checkOrDefaultPriceName,
  type Model,
  indexModelsByName,
  requestedNameOrAlias,
  modelNameFromAlias,
  modelNamesAndAliases,
  unknownModelRefusal,
} from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import type { CataloguePrice } from '../../../src/catalogue/prices/model-prices.ts';

const [template = assert.fail()] = defaultModels;
const price = (name: string): CataloguePrice => ({ name, when: {}, amounts: [] });
const { aliases: _aliases, ...unnamed } = template;
const models = indexModelsByName([
  { ...unnamed, model: 'plain', prices: [price('standard')] },
  { ...unnamed, model: 'first', aliases: ['vendor/one', 'vendor/two'], prices: [price('high'), price('standard')] },
  { ...unnamed, model: 'second', aliases: ['vendor/three', 'plain'], prices: [] },
] satisfies readonly Model[]);

test('an alias stands for its model, a name of a model for itself, and any other name stays', () => {
  for (const [name, model] of [
    ['plain', 'plain'],
    ['vendor/two', 'first'],
    ['vendor/three', 'second'],
    ['other', 'other'],
  ] as const)
    assert.equal(modelNameFromAlias(models, name), model);
});

test('clients see the name that they sent, else the first alias, else the own name', () => {
  assert.equal(requestedNameOrAlias(models, 'first', 'vendor/two'), 'vendor/two');
  assert.equal(requestedNameOrAlias(models, 'first'), 'vendor/one');
  assert.equal(requestedNameOrAlias(models, 'plain'), 'plain');
  assert.equal(requestedNameOrAlias(models, 'removed'), 'removed');
});

test('every name of the models is listed once, aliases before the own name', () => {
  assert.deepEqual(modelNamesAndAliases(models), [
    'plain',
    'vendor/one',
    'vendor/two',
    'first',
    'vendor/three',
    'second',
  ]);
});

test('an unknown model is refused, and an alias is no name of a model', () => {
  assert.equal(unknownModelRefusal(models, 'first'), undefined);
  assert.equal(unknownModelRefusal(models, 'firs'), 'unknown model, did you mean first?');
  assert.equal(unknownModelRefusal(models, 'vendor/two'), 'unknown model, must be one of plain, first, second');
});

test('a price is found by its name, which only a model with a single price can leave out', () => {
  for (const [model, name, found] of [
    ['plain', undefined, { ok: true, name: 'standard' }],
    ['plain', 'standard', { ok: true, name: 'standard' }],
    ['plain', 'high', { ok: false, message: 'unknown price, must be one of standard' }],
    ['first', 'high', { ok: true, name: 'high' }],
    ['first', 'standart', { ok: false, message: 'unknown price, did you mean standard?' }],
    ['first', undefined, { ok: false, message: 'is required, because first has several prices: high, standard' }],
    ['second', undefined, { ok: false, message: 'is required, because second has several prices: ' }],
  ] as const)
    assert.deepEqual(checkOrDefaultPriceName(models, model, name), found);
});
