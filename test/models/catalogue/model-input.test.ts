import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveCatalogue } from '../../../src/models/catalogue/catalogue.ts';
import { fieldPath } from '../../../src/platform/field-errors.ts';
import { standardInput } from '../../../src/tasks/task-input.ts';

const four = {
  resolution: { values: ['720p', '1080p'] },
  duration: { min: 4, max: 15 },
  ratio: { values: ['16:9'] },
  generateAudio: {},
};

function resolve(input: unknown) {
  const model = { model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }], ...(input !== undefined && { input }) };
  return resolveCatalogue({ models: [model] });
}

function problemsOf(input: unknown): readonly string[] {
  return resolve(input).problems.map(({ path, message }) => `${fieldPath(path)}: ${message}`);
}

test('a model without input has the six fields of the specification', () => {
  assert.deepEqual(resolve(undefined).catalogue?.models.get('m')?.input, standardInput);
  assert.deepEqual(Object.keys(standardInput.fields), ['prompt', 'resolution', 'duration', 'ratio', 'generateAudio', 'imageUrls']);
});

test('a model that names no images takes none, and one that names no prompt takes the longest', () => {
  const { catalogue, problems } = resolve({ ...four, resolution: { values: ['720p'] } });
  assert.deepEqual(problems, []);
  const fields = catalogue?.models.get('m')?.input.fields;
  assert.deepEqual(fields?.imageUrls, { min: 0, max: 0 });
  assert.deepEqual(fields?.prompt, { maxCharacters: 5000 });
});

// The errors of an operator's file, each with the field that it names.
for (const [what, input, expected] of [
  ['no field', {}, /^models\[0\]\.input\.resolution: is required in input$/],
  ['an unknown field', { ...four, seeed: {} }, /^models\[0\]\.input\.seeed: /],
  [
    'an unknown resolution',
    { ...four, resolution: { values: ['4k'] } },
    /^models\[0\]\.input\.resolution\.values\[0\]: /,
  ],
  [
    'a default beyond the values',
    { ...four, ratio: { values: ['16:9'], default: '1:1' } },
    /input\.ratio\.default: must be one of values$/,
  ],
  [
    'a value twice',
    { ...four, ratio: { values: ['16:9', '16:9'] } },
    /input\.ratio\.values: must not hold a value twice$/,
  ],
  [
    'durations beyond 60 seconds',
    { ...four, duration: { min: 4, max: 61 } },
    /^models\[0\]\.input\.duration\.max: must be at most 60$/,
  ],
  ['durations in the wrong order', { ...four, duration: { min: 8, max: 4 } }, /input\.duration/],
  [
    'a default and a fixed sound',
    { ...four, generateAudio: { default: true, fixed: true } },
    /input\.generateAudio: must have default or fixed, not both$/,
  ],
  [
    'more images at least than at most',
    { ...four, imageUrls: { min: 3, max: 2 } },
    /input\.imageUrls\.max: must be at least min$/,
  ],
  [
    'a requirement that the model does not have',
    { ...four, lastFrameUrl: { requires: 'firstFrameUrl' } },
    /input\.lastFrameUrl\.requires: must name a field of this input: prompt, /,
  ],
  [
    'an exclusion that the model does not have',
    { ...four, seed: {}, exclusive: [['seed', 'videoUrls']] },
    /input\.exclusive\[0\]: must name a field of this input: /,
  ],
  ['an option without a type', { ...four, options: { style: {} } }, /input\.options\.style/],
  [
    'an option with a default beyond its bounds',
    { ...four, options: { steps: { type: 'integer', max: 5, default: 9 } } },
    /input\.options\.steps\.default: must be a whole number from -1000000000 to 5$/,
  ],
  [
    'an option with a name of two words',
    { ...four, options: { 'camera fixed': { type: 'boolean' } } },
    /input\.options/,
  ],
  ['no option', { ...four, options: {} }, /input\.options: must hold 1 to 50 options$/],
] as const) {
  test(`a model with ${what} is refused, and the error names the field`, () => {
    const problems = problemsOf(input);
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      problems.join('\n'),
    );
  });
}
