import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultOptions,
  type OptionBounds,
  optionValueSchema,
  requestedOptionsSchema,
} from '../../../src/catalogue/input/extra-model-options.ts';

const cases: readonly (readonly [bounds: OptionBounds, taken: readonly unknown[], refused: readonly unknown[]])[] = [
  [{ type: 'boolean' }, [true, false], ['true', 1, null]],
  [{ type: 'integer' }, [-1_000_000_000, 0, 1_000_000_000], [-1_000_000_001, 1_000_000_001, 1.5, '1']],
  [{ type: 'integer', min: 2, max: 4 }, [2, 4], [1, 5, 2.5]],
  [{ type: 'number', min: 0.5, max: 1.5 }, [0.5, 1.25, 1.5], [0.49, 1.51, '1']],
  [{ type: 'number', values: [0.5, 2] }, [0.5, 2], [1, '2']],
  [{ type: 'string', values: ['a', 'b'], maxCharacters: 500 }, ['a', 'b'], ['c', 'A', '']],
  [{ type: 'string', maxCharacters: 2 }, ['', 'ab', '🐈🐈'], ['abc', '🐈🐈🐈', 'a\0', '\ud800', 1]],
];

for (const [bounds, taken, refused] of cases) {
  test(`an option with ${JSON.stringify(bounds)} takes its values only`, () => {
    const schema = optionValueSchema(bounds);
    for (const value of taken) assert.equal(schema.safeParse(value).data, value);
    for (const value of refused) assert.ok(!schema.safeParse(value).success, JSON.stringify(value));
  });
}

test('null counts as left out, an unknown option is refused, and defaults are those that are declared', () => {
  const bounds = {
    fast: { type: 'boolean' },
    steps: { type: 'integer', default: 0 },
    sharp: { type: 'boolean', default: false },
  } as const;
  const schema = requestedOptionsSchema(bounds);
  assert.deepEqual(schema.parse({ fast: null, steps: 3 }), { steps: 3 });
  assert.deepEqual(schema.parse({ fast: false, sharp: true }), { fast: false, sharp: true });
  for (const given of [{ other: 1 }, { steps: 'x' }, []]) assert.ok(!schema.safeParse(given).success);
  assert.deepEqual(defaultOptions(bounds), { steps: 0, sharp: false });
});
