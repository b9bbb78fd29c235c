import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  contradictionIn,
  effectiveRules,
  ruleErrors,
  imageSizeRefusal,
  rulesSchema,
  rulesForUpstreamModel,
} from '../../../src/catalogue/models/input-rules.ts';
import { type ModelInput, standardModelInput, withDefaults } from '../../../src/catalogue/input/task-input.ts';

const ratios = standardModelInput.fields.ratio.values;

function inputOf(fields: Parameters<typeof withDefaults>[0], images = 0) {
  const imageUrls = Array.from({ length: images }, (_, index) => `https://x.example/${index}.png`);
  return withDefaults({ prompt: 'A cat', imageUrls, ...fields });
}

const bound = fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined });
const few = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
const someRatios = fc.option(fc.subarray([...ratios], { minLength: 1 }), { nil: undefined });
const anyRules = fc
  .record({
    durations: fc.oneof(
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      fc.record({ min: bound, max: bound }),
      fc.constant(undefined),
    ),
    ratios: someRatios,
    ratiosWithImages: someRatios,
    images: fc.option(fc.record({ min: few, max: few }), { nil: undefined }),
    maxPromptCharacters: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
  })
  .map((all) => rulesSchema.parse(all));
const anyInput = fc
  .record({
    prompt: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
    duration: fc.integer({ min: 4, max: 15 }),
    ratio: fc.constantFrom(...ratios),
    images: fc.integer({ min: 0, max: 9 }),
  })
  .map(({ images, ...fields }) => inputOf(fields, images));

test('an input is taken by several rules together when each of them alone takes it', () => {
  fc.assert(
    fc.property(fc.array(anyRules, { maxLength: 4 }), anyInput, (all, input) => {
      const alone = all.every((one) => ruleErrors(effectiveRules([one]), 'm', input).length === 0);
      assert.equal(ruleErrors(effectiveRules(all), 'm', input).length === 0, alone);
    }),
    { seed: 20_261_122, numRuns: 3_000 },
  );
});

test('rules that no input can follow are told, and only those', () => {
  const oneOfEach = ratios.flatMap((ratio) =>
    Array.from({ length: 12 * 10 }, (_, index) =>
      inputOf({ prompt: 'x', ratio, duration: 4 + (index % 12) }, Math.floor(index / 12)),
    ),
  );
  fc.assert(
    fc.property(fc.array(anyRules, { maxLength: 3 }), (all) => {
      const effective = effectiveRules(all);
      const isTaken = oneOfEach.some((input) => ruleErrors(effective, 'm', input).length === 0);
      const contradiction = contradictionIn(effective);
      if (!isTaken) assert.notEqual(contradiction, undefined);
      // Images that are allowed but fit no ratio are an oversight, too.
      if (isTaken && contradiction !== undefined) assert.match(contradiction, /no ratio with them/);
    }),
    { seed: 20_261_122, numRuns: 300 },
  );
});

test('a refusal names the field, what is allowed, and the model that the client asked for', () => {
  const effective = effectiveRules([
    { durations: [5], ratios: ['16:9', '9:16'], images: { max: 1 }, maxPromptCharacters: 3 },
  ]);
  assert.deepEqual(ruleErrors(effective, 'wan-2.2', inputOf({ prompt: 'four', duration: 8, ratio: '1:1' }, 2)), [
    { path: 'input.prompt', message: 'must be at most 3 characters long for wan-2.2' },
    { path: 'input.duration', message: 'must be 5 seconds for wan-2.2' },
    { path: 'input.ratio', message: 'must be one of 16:9, 9:16 for wan-2.2 with reference images' },
    { path: 'input.imageUrls', message: 'must hold at most 1 URLs for wan-2.2' },
  ]);
  const withImage = effectiveRules([{ images: { min: 1 } }]);
  const [missing] = ruleErrors(withImage, 'm', inputOf({}));
  assert.deepEqual(missing, { path: 'input.imageUrls', message: 'must hold 1 to 9 URLs for m' });
});

test('a prompt is measured in characters, as in the specification', () => {
  const two = effectiveRules([{ maxPromptCharacters: 2 }]);
  assert.deepEqual(ruleErrors(two, 'm', inputOf({ prompt: '🐈🐈' })), []);
  assert.equal(ruleErrors(two, 'm', inputOf({ prompt: '🐈🐈🐈' })).length, 1);
  const negative = effectiveRules([{ maxNegativePromptCharacters: 2 }]);
  assert.deepEqual(ruleErrors(negative, 'm', inputOf({ prompt: 'a long prompt', negativePrompt: '🐈🐈' })), []);
  const [refused] = ruleErrors(negative, 'm', inputOf({ prompt: 'x', negativePrompt: '🐈🐈🐈' }));
  assert.deepEqual(refused, { path: 'input.negativePrompt', message: 'must be at most 2 characters long for m' });
});

test('rules that an earlier release stored without a bound of negative prompts take the longest, and rules of several levels the shortest', () => {
  const { maxNegativePromptCharacters: all, ...stored } = effectiveRules([]);
  assert.equal(all, 5000);
  const errorsOf = (length: number) => ruleErrors(stored, 'm', inputOf({ negativePrompt: 'x'.repeat(length) }));
  assert.deepEqual([errorsOf(5000).length, errorsOf(5001).length], [0, 1]);
  const [wide, narrow] = [9, 8].map((characters) => ({
    maxPromptCharacters: characters,
    maxNegativePromptCharacters: characters,
  }));
  for (const levels of [
    [wide, narrow],
    [narrow, wide],
  ]) {
    const { maxPromptCharacters, maxNegativePromptCharacters } = effectiveRules(levels);
    assert.deepEqual([maxPromptCharacters, maxNegativePromptCharacters], [8, 8]);
  }
});

test('resolutions narrow those of the model', () => {
  const fields: ModelInput['fields'] = { ...standardModelInput.fields, resolution: { values: ['480p', '1080p'] } };
  const input = { ...standardModelInput, fields };
  const effective = effectiveRules([{ resolutions: ['480p', '720p'] }], input);
  assert.deepEqual(effective.resolutions, ['480p']);
  const request = { prompt: 'x', resolution: '1080p' } as const;
  assert.deepEqual(ruleErrors(effective, 'm', withDefaults(request, input)), [
    { path: 'input.resolution', message: 'must be 480p for m' },
  ]);
  const nothing = effectiveRules([{ resolutions: ['720p'] }], input);
  assert.equal(contradictionIn(nothing), 'allow no resolution of the model');
});

test('a frame and references exclude each other where a rule requires it', () => {
  const apart = effectiveRules([{ framesWithReferences: false }, { framesWithReferences: true }]);
  const frame = { lastFrameUrl: 'https://x.example/f.png' };
  assert.deepEqual(ruleErrors(apart, 'm', inputOf(frame)), []);
  assert.deepEqual(ruleErrors(apart, 'm', inputOf({ videoUrls: ['https://x.example/v.mp4'] }, 1)), []);
  assert.deepEqual(ruleErrors(apart, 'm', inputOf(frame, 1)), [
    { path: 'input.lastFrameUrl', message: 'must not be combined with imageUrls for m' },
  ]);
  const clips = { videoUrls: ['https://x.example/v.mp4'], audioUrls: ['https://x.example/a.mp3'] };
  assert.deepEqual(ruleErrors(apart, 'm', inputOf({ firstFrameUrl: frame.lastFrameUrl, ...frame, ...clips })), [
    { path: 'input.firstFrameUrl', message: 'must not be combined with videoUrls, audioUrls for m' },
  ]);
  assert.deepEqual(ruleErrors(effectiveRules([]), 'm', inputOf(frame, 1)), []);
});

test('a last frame needs a first one where a rule requires it', () => {
  const both = effectiveRules([{ lastFrameAlone: false }, {}]);
  const last = { lastFrameUrl: 'https://x.example/l.png' };
  assert.deepEqual(ruleErrors(both, 'm', inputOf({ ...last, firstFrameUrl: 'https://x.example/f.png' })), []);
  assert.deepEqual(ruleErrors(both, 'm', inputOf(last)), [
    { path: 'input.lastFrameUrl', message: 'must be combined with firstFrameUrl for m' },
  ]);
  assert.deepEqual(ruleErrors(effectiveRules([]), 'm', inputOf(last)), []);
});

test('ratios with images apply to a frame, too', () => {
  const fixed = effectiveRules([{ ratiosWithImages: ['adaptive'] }]);
  assert.deepEqual(ruleErrors(fixed, 'm', inputOf({ ratio: '16:9', firstFrameUrl: 'https://x.example/f.png' })), [
    { path: 'input.ratio', message: 'must be adaptive for m with a first or last frame' },
  ]);
});

test('ratios with images apply to inputs with images alone', () => {
  const fixed = effectiveRules([{ ratiosWithImages: ['adaptive'] }]);
  assert.deepEqual(ruleErrors(fixed, 'm', inputOf({ ratio: '16:9' })), []);
  assert.deepEqual(ruleErrors(fixed, 'm', inputOf({ ratio: 'adaptive' }, 1)), []);
  assert.equal(ruleErrors(fixed, 'm', inputOf({ ratio: '16:9' }, 1)).length, 1);
});

test('never refuses sound, no other rule on it refuses anything, and the most special word on it counts', () => {
  const silent = effectiveRules([{ audio: 'always' }, undefined, { audio: 'never' }, {}]);
  assert.equal(silent.audio, 'never');
  assert.deepEqual(ruleErrors(silent, 'm', inputOf({ generateAudio: false })), []);
  assert.deepEqual(ruleErrors(silent, 'm', inputOf({ generateAudio: true })), [
    { path: 'input.generateAudio', message: 'must be false for m' },
  ]);
  const loud = effectiveRules([{ audio: 'never' }, { audio: 'always' }]);
  for (const generateAudio of [true, false]) assert.deepEqual(ruleErrors(loud, 'm', inputOf({ generateAudio })), []);
});

test('an image is measured by both sides and its shape, edges included', () => {
  const { images } = effectiveRules([{ images: { minPx: 300, maxPx: 6000, minAspect: 0.4, maxAspect: 2.5 } }]);
  const refused = (widthPx: number, heightPx: number) =>
    imageSizeRefusal({ ...effectiveRules([]), images }, { widthPx, heightPx }) !== undefined;
  assert.deepEqual(
    [refused(300, 300), refused(6000, 6000), refused(750, 300), refused(300, 750)],
    [false, false, false, false],
  );
  assert.deepEqual(
    [refused(299, 300), refused(6000, 6001), refused(751, 300), refused(300, 751)],
    [true, true, true, true],
  );
  assert.equal(imageSizeRefusal(effectiveRules([]), { widthPx: 1, heightPx: 1 }), undefined);
});

test('a contradiction is reported for bounds of image sizes that exclude each other, and not for bounds that are equal', () => {
  for (const [images, isImpossible] of [
    [{ minPx: 300, maxPx: 300 }, false],
    [{ minPx: 301, maxPx: 300 }, true],
    [{ minAspect: 2, maxAspect: 2 }, false],
    [{ minAspect: 2.1, maxAspect: 2 }, true],
  ] as const)
    assert.equal(contradictionIn(effectiveRules([{ images }])) === 'allow no size of images', isImpossible);
});

test('rules of a vendor apply to the models that they name, in full or by their beginning', () => {
  const all = [
    { durations: [1] },
    { models: ['wan-2'], durations: [2] },
    { models: ['kling', 'wan*'], durations: [3] },
  ];
  const durationsFor = (model: string) => rulesForUpstreamModel(all, model).map(({ durations }) => durations);
  assert.deepEqual(durationsFor('wan-2'), [[1], [2], [3]]);
  assert.deepEqual(durationsFor('wan-2.1'), [[1], [3]]);
  assert.deepEqual(durationsFor('kling'), [[1], [3]]);
  assert.deepEqual(durationsFor('kling-2'), [[1]]);
});
