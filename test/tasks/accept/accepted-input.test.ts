import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modelInputDeclarationSchema } from '../../../src/catalogue/input/model-input-declaration-schema.ts';
import {
  defaultModels,
  type Model,
  indexModelsByName,
} from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { describeFieldError } from '../../../src/platform/text/field-errors.ts';
import { fieldsOfModel } from '../../../src/catalogue/input/task-input.ts';
import { inputJsonSchema, sampleRequest } from '../../../src/tasks/accept/documented-task-request.ts';
import { createTaskRequestParser } from '../../../src/tasks/accept/parse-task-request.ts';
import { taskTerms } from '../../../src/tasks/accept/task-terms-and-request-fingerprint.ts';

const [standard] = defaultModels;
assert.ok(standard);

const seedance: Model = {
  ...standard,
  model: 'seedance',
  aliases: [],
  input: modelInputDeclarationSchema.parse({
    prompt: { maxCharacters: 100 },
    negativePrompt: { maxCharacters: 10 },
    resolution: { values: ['480p', '720p', '1080p'], default: '1080p' },
    duration: { values: [5, 10] },
    ratio: { values: ['16:9', '9:21'] },
    generateAudio: { default: false },
    imageUrls: { max: 2 },
    firstFrameUrl: {},
    lastFrameUrl: { requires: 'firstFrameUrl' },
    videoUrls: { max: 1 },
    audioUrls: { min: 0, max: 1, requires: ['videoUrls'] },
    seed: { max: 100 },
    options: {
      cameraFixed: { type: 'boolean', default: false },
      loop: { type: 'boolean' },
      style: { type: 'string', values: ['natural', 'anime'] },
      guidance: { type: 'number', min: 0, max: 20, default: 5 },
      steps: { type: 'integer', min: 1, max: 50 },
      note: { type: 'string', maxCharacters: 5 },
    },
    exclusive: [['imageUrls', 'firstFrameUrl']],
  }),
};
const required: Model = {
  ...standard,
  model: 'talking-head',
  aliases: [],
  input: modelInputDeclarationSchema.parse({
    resolution: { values: ['768p'] },
    duration: { min: 1, max: 60 },
    ratio: { values: ['1:1'] },
    generateAudio: { fixed: true },
    firstFrameUrl: { required: true },
    audioUrls: { min: 1, max: 1 },
  }),
};

const parse = createTaskRequestParser({
  offer: { models: indexModelsByName([standard, seedance, required]) },
  refuseMediaUrl: (url) => (url.includes('//10.') ? 'must not be a private address' : undefined),
  refuseCallbackUrl: () => undefined,
});
const file = 'https://example.com/file';

function inputOf(input: object, model = 'seedance') {
  const parsed = parse({ model, input: { prompt: 'A cat', ...input } });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.param.input;
}

function errorsOf(input: unknown, model: unknown = 'seedance'): readonly string[] {
  const parsed = parse({ model, input });
  return parsed.ok ? [] : parsed.errors.map(describeFieldError);
}

test('the record of a request has the defaults of its model, and optional fields only if they were sent', () => {
  assert.deepEqual(inputOf({}), {
    prompt: 'A cat',
    resolution: '1080p',
    duration: 5,
    ratio: '16:9',
    generateAudio: false,
    imageUrls: [],
    options: { cameraFixed: false, guidance: 5 },
  });
  const sent = {
    negativePrompt: 'rain',
    resolution: '480p',
    duration: 10,
    ratio: '9:21',
    generateAudio: true,
    firstFrameUrl: file,
    lastFrameUrl: file,
    videoUrls: [file],
    audioUrls: [file],
    seed: 7,
    options: { cameraFixed: true, style: 'anime', guidance: 1.5, steps: 4, note: 'ok' },
  };
  assert.deepEqual(inputOf(sent), { prompt: 'A cat', imageUrls: [], ...sent });
});

test('null means the same as absence, also in options', () => {
  const nothing = { negativePrompt: null, seed: null, firstFrameUrl: null, videoUrls: null };
  assert.deepEqual(inputOf({ ...nothing, options: { style: null, guidance: null } }), inputOf({}));
  assert.deepEqual(inputOf({ options: null }), inputOf({}));
});

for (const [what, input, expected] of [
  ['a long prompt', { prompt: 'x'.repeat(101) }, 'input.prompt: must be at most 100 characters'],
  ['a long negative prompt', { negativePrompt: 'x'.repeat(11) }, 'input.negativePrompt: must be at most 10 characters'],
  ['a resolution', { resolution: '2160p' }, 'input.resolution: must be one of 480p, 720p, 1080p'],
  ['a duration that is not in the list', { duration: 6 }, 'input.duration: must be one of 5, 10 seconds'],
  ['a ratio', { ratio: '1:1' }, 'input.ratio: must be one of 16:9, 9:21'],
  ['images', { imageUrls: [file, file, file] }, 'input.imageUrls: must hold at most 2 URLs'],
  [
    'a frame in a private network',
    { firstFrameUrl: 'http://10.0.0.1/' },
    'input.firstFrameUrl: must not be a private address',
  ],
  [
    'a video in a private network',
    { videoUrls: ['http://10.0.0.1/'] },
    'input.videoUrls[0]: must not be a private address',
  ],
  ['a seed', { seed: 101 }, 'input.seed: must be a whole number from 0 to 100'],
  ['a seed with a fraction', { seed: 1.5 }, 'input.seed: must be a whole number from 0 to 100'],
  [
    'a last frame alone',
    { lastFrameUrl: file },
    'input.firstFrameUrl: is required together with lastFrameUrl for seedance',
  ],
  [
    'an audio without a video',
    { audioUrls: [file] },
    'input.videoUrls: is required together with audioUrls for seedance',
  ],
  [
    'images with a first frame',
    { imageUrls: [file], firstFrameUrl: file },
    'input.firstFrameUrl: must be left out together with imageUrls: seedance takes one of imageUrls, firstFrameUrl',
  ],
  [
    'an option that is not in the list',
    { options: { style: 'oil' } },
    'input.options.style: must be one of natural, anime',
  ],
  [
    'an option of another type',
    { options: { cameraFixed: 1 } },
    'input.options.cameraFixed: must be true or false; did you mean true?',
  ],
  ['an option out of range', { options: { guidance: 21 } }, 'input.options.guidance: must be a number from 0 to 20'],
  ['a fraction of steps', { options: { steps: 1.5 } }, 'input.options.steps: must be a whole number from 1 to 50'],
  ['a long text', { options: { note: 'abcdef' } }, 'input.options.note: must be at most 5 characters'],
  [
    'a NUL in an option',
    { options: { note: '\0' } },
    'input.options.note: must not contain NUL characters or unpaired surrogates',
  ],
  [
    'an unknown option',
    { options: { camera: true } },
    'input.options.camera: unknown field, did you mean cameraFixed?',
  ],
  [
    'an option beside the fields',
    { guidance: 5 },
    'input.guidance: unknown field, did you mean input.options.guidance?',
  ],
] as const) {
  test(`${what} that the model does not take is refused with the values that it takes`, () => {
    assert.deepEqual(errorsOf({ prompt: 'A cat', ...input }), [expected]);
  });
}

test('a field that only other models take is refused by name, and costs nothing', () => {
  assert.deepEqual(errorsOf({ prompt: 'A cat', seed: 1, videoUrls: [file] }, standard.model), [
    'input.videoUrls: reference video is not supported; leave this field out',
    `input.seed: is not supported by ${standard.model}; leave this field out`,
  ]);
});

test('required media must be sent, and a fixed value cannot be changed', () => {
  assert.deepEqual(errorsOf({ prompt: 'A cat', generateAudio: false, imageUrls: [file] }, 'talking-head'), [
    'input.generateAudio: must be true',
    'input.imageUrls: is not supported by this model; leave it out',
    'input.firstFrameUrl: is required',
    'input.audioUrls: is required',
  ]);
  const sent = { firstFrameUrl: file, audioUrls: [file] };
  assert.equal(inputOf(sent, 'talking-head').generateAudio, true);
});

test('the input of an unknown model is not checked where models differ', () => {
  const [error, ...others] = errorsOf({ prompt: '', seed: -1 }, 'seedence');
  assert.match(error ?? '', /^model: must be one of videogen-2\.0, seedance, talking-head/);
  assert.deepEqual(others, []);
  assert.deepEqual(errorsOf({ prompt: 'A cat' }, { toString: 'x' }).length, 1);
});

test('a task without a seed gets one within the bounds of its model, and the seed does not change its fingerprint', () => {
  const parsed = parse({ model: 'seedance', input: { prompt: 'A cat' } });
  assert.ok(parsed.ok);
  const all = Array.from({ length: 50 }, () => taskTerms(seedance, parsed.param));
  const seeds = all.map(({ param }) => param.input.seed ?? -1);
  assert.ok(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed <= 100));
  assert.ok(new Set(seeds).size > 1);
  assert.equal(new Set(all.map(({ requestSha256 }) => requestSha256.toString('hex'))).size, 1);
  const chosen = parse({ model: 'seedance', input: { prompt: 'A cat', seed: 7 } });
  assert.ok(chosen.ok);
  assert.equal(taskTerms(seedance, chosen.param).param.input.seed, 7);
  const plain = parse({ model: standard.model, input: { prompt: 'A cat' } });
  assert.ok(plain.ok);
  assert.equal(taskTerms(standard, plain.param).param.input.seed, undefined);
});

test('the JSON Schema of a model has its fields in the order of the vocabulary, with bounds, defaults and relations', () => {
  const schema = inputJsonSchema(seedance.input) as unknown as {
    readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly dependentRequired: unknown;
    readonly allOf: unknown;
  };
  const { properties } = schema;
  assert.deepEqual(Object.keys(properties), fieldsOfModel(seedance.input));
  assert.deepEqual(properties['resolution']?.['enum'], ['480p', '720p', '1080p']);
  assert.doesNotMatch(JSON.stringify(schema), /null/);
  assert.equal(properties['resolution']?.['default'], '1080p');
  assert.deepEqual(properties['duration']?.['enum'], [5, 10]);
  assert.equal(properties['firstFrameUrl']?.['contentMediaType'], 'image/*');
  assert.deepEqual(schema.dependentRequired, { lastFrameUrl: ['firstFrameUrl'], audioUrls: ['videoUrls'] });
  assert.deepEqual(schema.allOf, [{ not: { required: ['imageUrls', 'firstFrameUrl'] } }]);
});

test('the sample request of every model is accepted', () => {
  for (const { model, input } of [standard, seedance, required]) {
    const parsed = parse(sampleRequest(model, input));
    assert.ok(parsed.ok, JSON.stringify(parsed));
  }
});
