import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  imageRefusalOfModel,
  inputErrorsOfModel,
  untriedTiersForTask,
} from '../../../src/catalogue/models/input-refusals-and-untried-tiers.ts';
import type { TierEntry } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { effectiveRules } from '../../../src/catalogue/models/input-rules.ts';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';

const input = withDefaults({ prompt: 'A cat' });

function entry(provider: string, fields: Partial<TierEntry> = {}): TierEntry {
  const base = { provider, upstreamModel: 'u', pool: `${provider}/u`, weight: 1, limit: 1, parameters: {} };
  return { ...base, rules: effectiveRules([]), ...fields };
}

const onlyFive = { rules: effectiveRules([{ durations: [5] }]) };
const onlyEight = { rules: effectiveRules([{ durations: [8] }]) };

function orderOf(taskId: string, entries: readonly TierEntry[], used: readonly string[] = []): readonly string[] {
  const routes = untriedTiersForTask({ model: 'm', tiers: [entries] }, { taskId, input, used: new Set(used) });
  return routes.flat().map(({ provider }) => provider);
}

const taskIds = Array.from({ length: 4_000 }, (_, index) => `task-${index}`);

test('within a tier each provider comes first as often as its weight says', () => {
  const entries = [entry('a', { weight: 6 }), entry('b', { weight: 3 }), entry('c')];
  const firsts = taskIds.map((taskId) => orderOf(taskId, entries)[0]);
  const share = (name: string) => firsts.filter((first) => first === name).length / taskIds.length;
  assert.ok(Math.abs(share('a') - 0.6) < 0.03 && Math.abs(share('b') - 0.3) < 0.03, `${share('a')} ${share('b')}`);
});

test('the order is the same every time, and a provider that was used leaves the order of the others as it is', () => {
  const entries = ['a', 'b', 'c', 'd'].map((name, index) => entry(name, { weight: index + 1 }));
  for (const taskId of taskIds.slice(0, 200)) {
    const all = orderOf(taskId, entries);
    assert.deepEqual(orderOf(taskId, entries.toReversed()), all);
    const used = all[1] ?? '';
    assert.deepEqual(
      orderOf(taskId, entries, [used]),
      all.filter((name) => name !== used),
    );
  }
});

test('the order of a task is the same in every release, because workers of two releases may try it', () => {
  const entries = ['a', 'b', 'c', 'd'].map((name, index) => entry(name, { weight: index + 1 }));
  const orders = ['task-1', 'task-2', 'task-3'].map((taskId) => orderOf(taskId, entries).join(''));
  assert.deepEqual(orders, ['abdc', 'dbac', 'bcad']);
});

test('tiers keep their order, without entries that do not take the input and without tiers that are empty', () => {
  const tiers = [[entry('a', onlyEight)], [entry('b'), entry('c', onlyEight)], [entry('d', onlyFive)]];
  const routes = untriedTiersForTask({ model: 'm', tiers }, { taskId: 't', input, used: new Set() });
  assert.deepEqual(
    routes.map((tier) => tier.map(({ provider }) => provider)),
    [['b'], ['d']],
  );
});

test('an input is refused when no entry takes it, in the words of the first and without the name of an upstream', () => {
  const tiers = [[entry('ark-intl', onlyEight)], [entry('fal', onlyFive)]];
  assert.deepEqual(inputErrorsOfModel({ model: 'm', tiers }, { ...input, duration: 5 }), []);
  assert.deepEqual(inputErrorsOfModel({ model: 'm', tiers }, { ...input, duration: 8 }), []);
  const refused = inputErrorsOfModel({ model: 'm', tiers }, { ...input, duration: 10 });
  assert.deepEqual(refused, [{ path: 'input.duration', message: 'must be 8 seconds for m' }]);
});

test('fields that an entry ignores must have the values that it has without them', () => {
  const ignores = {
    negativePrompt: null,
    imageUrls: [],
    generateAudio: true,
    'options.steps': 20,
    'options.style': null,
  };
  const tiers = [[entry('a', { ignores })]];
  const errors = (given: object) => inputErrorsOfModel({ model: 'm', tiers }, { ...input, ...given });
  assert.deepEqual(errors({ generateAudio: true, options: { steps: 20, other: 1 } }), []);
  const rest = 'for m with the rest of this input';
  assert.deepEqual(
    errors({
      negativePrompt: 'fog',
      imageUrls: ['https://x.example/a.jpg'],
      generateAudio: false,
      options: { style: 'x' },
    }),
    [
      { path: 'input.negativePrompt', message: `must be left out ${rest}` },
      { path: 'input.imageUrls', message: `must be left out ${rest}` },
      { path: 'input.generateAudio', message: `must be true ${rest}` },
      { path: 'input.options.steps', message: `must be 20 ${rest}` },
      { path: 'input.options.style', message: `must be left out ${rest}` },
    ],
  );
});

test('a size of an image is refused when no entry that takes the input takes it, in the words of the first', () => {
  const large = { rules: effectiveRules([{ images: { minPx: 300 } }]) };
  const small = { rules: effectiveRules([{ images: { minPx: 100 }, durations: [8] }]) };
  const tiers = [[entry('a', large)], [entry('b', small)]];
  const refusal = (duration: number, pixels: number) =>
    imageRefusalOfModel({ model: 'm', tiers }, { ...input, duration }, { widthPx: pixels, heightPx: pixels });
  const words = 'each side of a reference image must be 300 to 100000 pixels';
  assert.deepEqual([refusal(5, 300), refusal(8, 100)], [undefined, undefined]);
  assert.deepEqual([refusal(5, 299), refusal(8, 99)], [words, words]);
});
