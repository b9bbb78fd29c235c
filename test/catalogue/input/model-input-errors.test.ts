import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveCatalogue } from '../../../src/catalogue/file/resolve-catalogue.ts';
import { fieldPath } from '../../../src/platform/text/field-errors.ts';

// Operators read these errors of an invalid `input`: the field, then what is allowed there. They are compared whole.

const four = {
  resolution: { values: ['720p'] },
  duration: { min: 4, max: 15 },
  ratio: { values: ['16:9'] },
  generateAudio: {},
};
const durations = 'duration: must be { min, max } or { values } in whole seconds from 1 to 60';
const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`option${index}`, { type: 'boolean' }]));
const steps = (bounds: object) => ({ options: { steps: { type: 'integer', ...bounds } } });
const style = (bounds: object) => ({ options: { style: { type: 'string', ...bounds } } });

/** Each is the input of a model, or a change of one that is valid, and its errors. */
const invalid: readonly (readonly [input: unknown, ...errors: readonly string[]])[] = [
  ['text', ': must be a map'],
  [{ resolution: undefined }, 'resolution: is required in input'],
  [{ duration: undefined }, 'duration: is required in input'],
  [
    { ratio: undefined, generateAudio: undefined },
    'ratio: is required in input',
    'generateAudio: is required in input',
  ],
  [{ seeed: {} }, 'seeed: unknown field, did you mean seed?'],

  [{ resolution: '720p' }, 'resolution: must be a map'],
  [{ resolution: {} }, 'resolution.values: is required'],
  [{ resolution: { values: [] } }, 'resolution.values: must have at least 1 item'],
  [
    { resolution: { values: ['4k'] } },
    'resolution.values[0]: must be one of 480p, 540p, 720p, 768p, 1080p, 1440p, 2160p',
  ],
  [{ resolution: { values: ['720p', '720p'] } }, 'resolution.values: must not contain a value twice'],
  [{ resolution: { values: ['720p'], default: '1080p' } }, 'resolution.default: must be one of values'],
  [
    { ratio: { values: ['16:10'] } },
    'ratio.values[0]: must be one of adaptive, 16:9, 9:16, 1:1, 4:3, 3:4, 21:9, 9:21, 3:2, 2:3, 5:4, 4:5',
  ],
  [{ ratio: { values: ['16:9'], default: '1:1' } }, 'ratio.default: must be one of values'],

  [{ duration: 5 }, durations],
  [{ duration: { min: 4 } }, durations],
  [{ duration: { values: [5.5] } }, durations],
  [{ duration: { values: [5], min: 4, max: 6 } }, durations],
  [{ duration: { values: [] } }, 'duration.values: must have at least 1 item'],
  [{ duration: { min: 0, max: 6 } }, 'duration.min: must be at least 1'],
  [{ duration: { min: 4, max: 61 } }, 'duration.max: must be at most 60'],
  [{ duration: { min: 8, max: 4 } }, 'duration.max: must be at least min'],
  [{ duration: { min: 4, max: 8, default: 9 } }, 'duration.default: must be from min to max'],
  [{ duration: { values: [5, 10], default: 7 } }, 'duration.default: must be one of values'],

  [{ generateAudio: true }, 'generateAudio: must be a map'],
  [{ generateAudio: { default: 'yes' } }, 'generateAudio.default: must be true or false'],
  [{ generateAudio: { default: true, fixed: true } }, 'generateAudio: must have default or fixed, not both'],
  [{ prompt: { maxCharacters: 5001 } }, 'prompt.maxCharacters: must be at most 5000'],
  [{ negativePrompt: { maxCharacters: 0 } }, 'negativePrompt.maxCharacters: must be at least 1'],

  [{ imageUrls: {} }, 'imageUrls.max: is required'],
  [{ imageUrls: { max: 21 } }, 'imageUrls.max: must be at most 20'],
  [{ imageUrls: { min: 3, max: 2 } }, 'imageUrls.max: must be at least min'],
  [{ firstFrameUrl: { required: 'yes' } }, 'firstFrameUrl.required: must be true or false'],
  [{ firstFrameUrl: { max: 1 } }, 'firstFrameUrl.max: unknown field, allowed: required, requires'],
  [{ videoUrls: { max: 0 } }, 'videoUrls.max: must be at least 1'],
  [{ videoUrls: { max: 1, maxSeconds: 601 } }, 'videoUrls.maxSeconds: must be at most 600'],
  [{ videoUrls: { max: 1, maxMegabytes: 1001 } }, 'videoUrls.maxMegabytes: must be at most 1000'],
  [{ videoUrls: { max: 1, maxPixels: 36_000_001 } }, 'videoUrls.maxPixels: must be at most 36000000'],
  [
    { audioUrls: { max: 1, maxPixels: 5 } },
    'audioUrls.maxPixels: unknown field, allowed: min, max, requires, maxSeconds, maxMegabytes',
  ],
  [{ seed: { max: 2_147_483_648 } }, 'seed.max: must be at most 2147483647'],
  [{ seed: { min: 0 } }, 'seed.min: unknown field, allowed: max, requires'],

  [
    { lastFrameUrl: { requires: 'firstFrameUrl' } },
    `lastFrameUrl.requires: must name a field of this input that a request can leave out: imageUrls, lastFrameUrl`,
  ],
  [{ lastFrameUrl: { requires: 3 } }, 'lastFrameUrl.requires: must be the name of a field, or a list of names'],
  [{ lastFrameUrl: { requires: [] } }, 'lastFrameUrl.requires: must have at least 1 item'],
  [{ exclusive: ['seed'] }, 'exclusive[0]: must be a list'],
  [{ exclusive: [['seed']] }, 'exclusive[0]: must have at least 2 items'],
  [
    { seed: {}, exclusive: [['seed', 'videoUrls']] },
    `exclusive[0][1]: must name a field of this input that a request can leave out: imageUrls, seed`,
  ],
  [
    { firstFrameUrl: {}, exclusive: [['ratio', 'firstFrameUrl']] },
    'exclusive[0][0]: must name a field of this input that a request can leave out: imageUrls, firstFrameUrl',
  ],
  [
    { exclusive: [['sed', 'prompt']] },
    'exclusive[0][0]: must be one of prompt, negativePrompt, resolution, duration, ratio, generateAudio, imageUrls, firstFrameUrl, ' +
      'lastFrameUrl, videoUrls, audioUrls, seed, options; did you mean seed?',
  ],

  [{ options: {} }, 'options: must have 1 to 50 options'],
  [{ options: many }, 'options: must have 1 to 50 options'],
  [{ options: { style: {} } }, 'options.style.type: must be one of boolean, integer, number, string'],
  [
    { options: { 'camera fixed': { type: 'boolean' } } },
    'options.camera fixed: must be 1 to 40 letters or digits, beginning with a lower-case letter',
  ],
  [{ options: { fast: { type: 'boolean', min: 1 } } }, 'options.fast.min: unknown field, allowed: type, default'],
  [{ options: { fast: { type: 'boolean', default: 'x' } } }, 'options.fast.default: must be true or false'],
  [steps({ max: 5, default: 9 }), 'options.steps.default: must be a whole number from -1000000000 to 5'],
  [steps({ min: 1, default: 2.5 }), 'options.steps.default: must be a whole number from 1 to 1000000000'],
  [steps({ values: [1, 2], default: 3 }), 'options.steps.default: must be one of 1, 2'],
  [steps({ values: [] }), 'options.steps.values: must have at least 1 item'],
  [steps({ values: [1, 1.5] }), 'options.steps.values[1]: must be a whole number'],
  [steps({ min: 9, max: 3 }), 'options.steps.max: must be at least min'],
  [style({ values: ['natural', 'anime'], default: 'film' }), 'options.style.default: must be one of natural, anime'],
  [style({ maxCharacters: 501 }), 'options.style.maxCharacters: must be at most 500'],
  [style({ maxCharacters: 2, default: 'film' }), 'options.style.default: must be at most 2 characters'],
];

function errorsOf(input: unknown, rules?: object): readonly string[] {
  const changed = typeof input === 'object' ? { ...four, ...input } : input;
  const priced = { model: 'm', title: 'M', prices: [{ creditsPerSecond: 1 }], providers: ['box'] };
  const model = { ...priced, input: changed, ...(rules && { rules }) };
  const providers = { box: { kind: 'own', baseUrl: 'http://upstream.example' } };
  const { problems } = resolveCatalogue({ providers, models: [model] });
  return problems.map(({ path, message }) => `${fieldPath(path)}: ${message}`);
}

test('the input from which the others differ is valid', () => assert.deepEqual(errorsOf({}), []));

/** Each is a change of the input, with a value at the edge of what is allowed. */
const valid: readonly object[] = [
  { duration: { min: 1, max: 60 } },
  { duration: { min: 4, max: 4 } },
  { duration: { min: 4, max: 8, default: 4 } },
  { duration: { min: 4, max: 8, default: 8 } },
  { duration: { values: [5, 10], default: 10 } },
  { resolution: { values: ['480p', '720p'], default: '480p' } },
  { imageUrls: { min: 20, max: 20 } },
  { videoUrls: { min: 2, max: 2 } },
  { options: Object.fromEntries(Object.entries(many).slice(0, 50)) },
  { options: { [`a${'B1'.repeat(19)}c`]: { type: 'boolean' } } },
  steps({ min: 3, max: 3, default: 3 }),
  steps({ values: [1, 2], default: 2 }),
  { options: { scale: { type: 'number', values: [0.5, 1.5], default: 1.5 } } },
  style({ values: ['natural', 'anime'], default: 'anime' }),
  style({ maxCharacters: 4, default: 'film' }),
];
for (const input of valid) {
  test(`an input is valid with ${JSON.stringify(input).slice(0, 100)}`, () => assert.deepEqual(errorsOf(input), []));
}

test('the name of an option has letters and digits only, at most forty, and begins with a lower-case letter', () => {
  for (const name of ['Style', '1st', 'my_style', 'style-1', 'ä', `a${'b'.repeat(40)}`])
    assert.deepEqual(errorsOf({ options: { [name]: { type: 'boolean' } } }), [
      `models[0].input.options.${name}: must be 1 to 40 letters or digits, beginning with a lower-case letter`,
    ]);
});

for (const [input, ...errors] of invalid) {
  test(`an input is refused with: ${errors.join('; ').slice(0, 120)}`, () => {
    const prefix = 'models[0].input';
    assert.deepEqual(
      errorsOf(input),
      errors.map((error) => (error.startsWith(':') ? prefix + error : `${prefix}.${error}`)),
    );
  });
}

test('rules of a model that its input expresses are refused, and the others are not', () => {
  const others = { ratiosWithImages: ['16:9'], images: { minPx: 300, maxAspect: 2 }, audio: 'always' };
  assert.deepEqual(errorsOf({}, others), []);
  const hidden = {
    durations: [5],
    resolutions: ['720p'],
    ratios: ['16:9'],
    maxPromptCharacters: 100,
    framesWithReferences: false,
    lastFrameAlone: false,
    images: { min: 0, max: 1, minPx: 300 },
  };
  const errors = [
    ['durations', 'input.duration'],
    ['resolutions', 'input.resolution'],
    ['ratios', 'input.ratio'],
    ['maxPromptCharacters', 'input.prompt.maxCharacters'],
    ['framesWithReferences', 'input.exclusive'],
    ['lastFrameAlone', 'input.lastFrameUrl.requires'],
    ['images.min', 'input.imageUrls.min'],
    ['images.max', 'input.imageUrls.max'],
  ];
  assert.deepEqual(
    errorsOf({}, hidden),
    errors.map(([rule, by]) => `models[0].rules.${rule}: must be declared as ${by}, because this model has input`),
  );
});
