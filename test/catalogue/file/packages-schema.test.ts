import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';

const models = [{ model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }] }];
const starter = { title: 'Starter', credits: 1000, price: { currency: 'EUR', minorUnits: 999 } };

function problemsOf(packages: unknown): readonly string[] {
  return resolveCatalogue({ models, packages }).problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('packages have the order of the file, and a catalogue without them sells nothing', () => {
  const packages = { studio: { ...starter, stripePrice: 'price_1NX' }, starter };
  const { catalogue } = resolveCatalogue({ models, packages });
  assert.deepEqual([...(catalogue?.packages ?? [])], Object.entries(packages));
  assert.equal(resolveCatalogue({ models }).catalogue?.packages.size, 0);
});

test('twenty packages, a name of fifty characters, one credit and the highest price are accepted', () => {
  const atLimits = { ...starter, credits: 1, price: { currency: 'EUR', minorUnits: 99_999_999 } };
  const names = ['a'.repeat(50), ...Array.from({ length: 19 }, (_, index) => `p${index}`)];
  assert.deepEqual(problemsOf(Object.fromEntries(names.map((name) => [name, atLimits]))), []);
});

for (const [what, packages, problem] of [
  [
    'a name with capital letters',
    { Starter: starter },
    'packages.Starter: must be 1 to 50 lower-case letters, digits or dashes, and begin with a letter',
  ],
  ['no title', { a: { ...starter, title: undefined } }, 'packages.a.title: is required'],
  ['no credits', { a: { ...starter, credits: 0 } }, 'packages.a.credits: must be at least 1'],
  ['a part of a credit', { a: { ...starter, credits: 1.5 } }, 'packages.a.credits: must be a whole number'],
  ['no price', { a: { title: 'A', credits: 1 } }, 'packages.a.price: is required'],
  [
    'a currency in lower case',
    { a: { ...starter, price: { currency: 'eur', minorUnits: 1 } } },
    'packages.a.price.currency: must be three capital letters, such as USD',
  ],
  [
    'a price of nothing',
    { a: { ...starter, price: { currency: 'EUR', minorUnits: 0 } } },
    'packages.a.price.minorUnits: must be at least 1',
  ],
  [
    'a price beyond the limit of Stripe',
    { a: { ...starter, price: { currency: 'EUR', minorUnits: 100_000_000 } } },
    'packages.a.price.minorUnits: must be at most 99999999',
  ],
  [
    'an unknown field',
    { a: { ...starter, stripeprice: 'price_1' } },
    'packages.a.stripeprice: unknown field, did you mean stripePrice?',
  ],
  [
    'a product of Stripe instead of a price',
    { a: { ...starter, stripePrice: 'prod_1' } },
    'packages.a.stripePrice: must be the id of a price at Stripe, such as price_1NX',
  ],
  [
    'too many packages',
    Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`p${index}`, starter])),
    'packages: must have at most 20 packages',
  ],
] as const) {
  test(`a catalogue with ${what} is refused`, () => {
    assert.deepEqual(problemsOf(packages), [problem]);
  });
}
