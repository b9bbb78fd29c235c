import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInCatalogue } from '../../../../src/catalogue/file/read-catalogue-file.ts';
import { indexModelsByName } from '../../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { createTaskRequestParser, translateAndParseRequest } from '../../../../src/tasks/accept/parse-task-request.ts';
import { presentKieTask } from '../../../../src/api/dialects/kie/kie-record-and-callback.ts';
import { hintIfKieRequest, translateKieRequest } from '../../../../src/api/dialects/kie/kie-request.ts';

import { rich } from '../openai/openai-stage.ts';

const catalogue = builtInCatalogue();
const { models } = catalogue;
const parseOurs = createTaskRequestParser({
  offer: { models },
  refuseMediaUrl: (url) => (url.includes('//10.') ? 'must not be a private address' : undefined),
  refuseCallbackUrl: () => undefined,
});
const image = 'https://images.example/cat.png';

function parse(input: unknown, rest: Readonly<Record<string, unknown>> = {}) {
  return translated({ model: 'bytedance/seedance-2', input, ...rest });
}

function translated(input: Readonly<Record<string, unknown>>, offer = catalogue, parseTaskRequest = parseOurs) {
  const deps = { catalogue: () => offer, parseTaskRequest };
  const request = translateAndParseRequest({ input, translate: translateKieRequest }, deps);
  return request.ok ? ({ ok: true, param: request.param } as const) : request;
}

function errors(input: unknown, rest: Readonly<Record<string, unknown>> = {}): readonly string[] {
  const parsed = parse(input, rest);
  return parsed.ok ? [] : parsed.errors.map(({ path, message }) => `${path}: ${message}`);
}

test('their request is the request that ours would be', () => {
  const theirs = parse(
    {
      prompt: 'A cat',
      aspect_ratio: '9:16',
      generate_audio: false,
      reference_image_urls: [image],
      resolution: '720p',
      duration: 6.4,
    },
    { callBackUrl: 'https://client.example/done' },
  );
  const ours = parseOurs({
    model: 'videogen-2.0',
    input: { prompt: 'A cat', ratio: '9:16', generateAudio: false, imageUrls: [image], duration: 6 },
    callBackUrl: 'https://client.example/done',
  });
  assert.ok(ours.ok);
  assert.deepEqual(theirs, { ...ours, param: { ...ours.param, requestedModel: 'bytedance/seedance-2' } });
});

test('param gives the request back: what a client reads it can send again', () => {
  const parsed = parse({ prompt: 'A cat', aspect_ratio: '1:1' }, { callBackUrl: 'https://client.example/done' });
  assert.ok(parsed.ok);
  const nothing = { failCode: null, failMsg: null, costTime: null, completeTime: null } as const;
  const figures = { progress: 0, creditsCharged: 165, creditsRefunded: 0, createTime: 1, updateTime: 1 };
  const task = { taskId: '019abc12-3456-7def-8901-234567890abc', state: 'waiting', ...nothing, ...figures } as const;
  const { param } = presentKieTask(
    { ...task, model: parsed.param.model, param: parsed.param, resultJson: { resultUrls: [] } },
    models,
  );
  const read = JSON.parse(param) as Record<string, unknown>; // an object, as just written
  assert.deepEqual(read, {
    model: 'bytedance/seedance-2',
    callBackUrl: 'https://client.example/done',
    input: {
      prompt: 'A cat',
      resolution: '720p',
      duration: 5,
      aspect_ratio: '1:1',
      generate_audio: true,
      reference_image_urls: [],
    },
  });
  assert.deepEqual(translated(read), parsed);
});

for (const [model, ours] of [
  ['bytedance/seedance-2', 'videogen-2.0'],
  ['bytedance/seedance-2-5', 'videogen-2.0'],
  ['bytedance/seedance-1.5-pro', 'videogen-2.0'],
  ['bytedance/v1-pro-text-to-video', 'videogen-2.0'],
  ['bytedance/seedance-2-fast', 'videogen-2.0-fast'],
  ['bytedance/seedance-2-mini', 'videogen-2.0-fast'],
  ['bytedance/v1-lite-text-to-video', 'videogen-2.0-fast'],
  ['videogen-2.0-fast', 'videogen-2.0-fast'],
] as const) {
  test(`the model ${model} is ${ours}`, () => {
    const parsed = parse({ prompt: 'A cat' }, { model });
    assert.equal(parsed.ok && parsed.param.model, ours);
  });
}

const everyName = [...models.values()].flatMap(({ model, aliases = [] }) => [...aliases, model]).join(', ');
for (const [model, meant] of [
  ['bytedance/seedance-1', '; did you mean bytedance/seedance-2?'],
  ['Bytedance/Seedance-2', '; did you mean bytedance/seedance-2?'],
  ['bytedance/seedance-2 ', '; did you mean bytedance/seedance-2?'],
  ['__proto__', ''],
  [7, ''],
  [['bytedance/seedance-2'], ''],
] as const) {
  test(`the model ${JSON.stringify(model)} is refused, naming every name that this client may use`, () => {
    assert.deepEqual(errors({ prompt: 'A cat' }, { model }), [`model: must be one of ${everyName}${meant}`]);
  });
}

test('a record names the model as its request did', () => {
  const parsed = parse({ prompt: 'A cat' }, { model: 'bytedance/seedance-2-5' });
  assert.equal(parsed.ok && parsed.param.requestedModel, 'bytedance/seedance-2-5');
});

test('extras are ignored, also those that resemble a field', () => {
  const extras = { callBackUrl: 'nonsense', nsfw_checker: true, seed: -1, aspectratio: 7, __proto__x: 1 };
  const plain = parse({ prompt: 'A cat' });
  assert.ok(plain.ok);
  assert.deepEqual(parse({ prompt: 'A cat', ...extras }, { callbackUrl: 'nonsense', extra: {} }), plain);
});

for (const [what, input, expected] of [
  ['a missing prompt', {}, ['input.prompt: is required']],
  ['another ratio', { prompt: 'A', aspect_ratio: '2:1' }, [/^input\.aspect_ratio: must be one of adaptive, /]],
  [
    'audio as a word',
    { prompt: 'A', generate_audio: 'yes' },
    ['input.generate_audio: must be true or false; did you mean true?'],
  ],
  [
    'a private address',
    { prompt: 'A', reference_image_urls: [image, 'http://10.0.0.1/'] },
    ['input.reference_image_urls[1]: must not be a private address'],
  ],
  [
    'ten images',
    { prompt: 'A', reference_image_urls: Array(10).fill(image) },
    ['input.reference_image_urls: must hold at most 9 URLs'],
  ],
  [
    'a duration in words',
    { prompt: 'A', duration: '5s' },
    ['input.duration: must be a number of seconds; did you mean 5?'],
  ],
  ['a duration as text, too long', { prompt: 'A', duration: '16' }, [/^input\.duration: must be 4 to 15 seconds/]],
  ['an empty prompt', { prompt: '' }, ['input.prompt: must not be empty or only white space']],
  ['another resolution', { prompt: 'A', resolution: '480p' }, ['input.resolution: must be 720p']],
  ['our own spelling, wrong', { prompt: 'A', ratio: '2:1' }, [/^input\.ratio: must be one of adaptive, /]],
  ['no object', 'A cat', ['input: must be an object']],
  ['nothing', undefined, ['input: is required']],
  [
    'several faults at once',
    { generate_audio: 1, first_frame_url: image },
    [
      'input.prompt: is required',
      'input.generate_audio: must be true or false; did you mean true?',
      /^input\.first_frame_url: a first frame/,
    ],
  ],
] as const) {
  test(`422 ${what}: the error names the field as the client wrote it`, () => {
    const found = errors(input);
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [index, one] of expected.entries()) {
      if (typeof one === 'string') assert.equal(found[index], one);
      else assert.match(found[index] ?? '', one);
    }
  });
}

for (const field of [
  'first_frame_url',
  'last_frame_url',
  'image_url',
  'image_urls',
  'input_urls',
  'end_image_url',
  'extension_task_id',
  'reference_video_urls',
  'reference_audio_urls',
  'videoUrls',
]) {
  test(`${field} is refused rather than sold as something else; left empty, it is as if it were not there`, () => {
    for (const value of [image, [image], {}, 0, false]) {
      assert.match(
        errors({ prompt: 'A cat', [field]: value }).join(),
        new RegExp(`^input\\.${field}: .*not supported`),
      );
    }
    for (const value of [undefined, null, '', []]) assert.deepEqual(errors({ prompt: 'A cat', [field]: value }), []);
  });
}

for (const field of ['return_last_frame', 'web_search', 'camera_fixed', 'fixed_lens']) {
  test(`${field} is refused when it is switched on, and ignored when it is off`, () => {
    for (const value of [true, 'true', 1]) {
      assert.match(
        errors({ prompt: 'A cat', [field]: value }).join(),
        new RegExp(`^input\\.${field}: .*not supported`),
      );
    }
    for (const value of [undefined, null, '', false]) assert.deepEqual(errors({ prompt: 'A cat', [field]: value }), []);
  });
}

test('a duration as text is a number of seconds, and an empty text in an optional field is as if it were not there', () => {
  const plain = parse({ prompt: 'A cat' });
  assert.ok(plain.ok);
  const unused = { resolution: '', duration: '', aspect_ratio: '', generate_audio: '', reference_image_urls: '' };
  assert.deepEqual(parse({ prompt: 'A cat', ...unused, ratio: '' }, { callBackUrl: '' }), plain);
  for (const [duration, seconds] of [
    ['8', 8],
    ['7.5', 8],
    ['15', 15],
  ] as const) {
    const parsed = parse({ prompt: 'A cat', duration });
    assert.equal(parsed.ok && parsed.param.input.duration, seconds);
  }
});

test('a model of the catalogue goes before an alias of its name', () => {
  const [standard, fast] = models.values();
  assert.ok(standard && fast);
  const second = { ...fast, model: 'bytedance/seedance-2', aliases: [] };
  const own = new Map([standard, second].map((model) => [model.model, model]));
  const refuse = () => undefined;
  const parseOwn = createTaskRequestParser({
    offer: { models: own },
    refuseMediaUrl: refuse,
    refuseCallbackUrl: refuse,
  });
  for (const model of ['bytedance/seedance-2', 'videogen-2.0']) {
    const parsed = translated({ model, input: { prompt: 'A cat' } }, { ...catalogue, models: own }, parseOwn);
    assert.equal(parsed.ok && parsed.param.model, model);
  }
});

test('their spelling goes before ours; ours counts where theirs is missing', () => {
  const ratioOf = (input: Readonly<Record<string, unknown>>) => {
    const parsed = parse({ prompt: 'A cat', ...input });
    return parsed.ok && parsed.param.input.ratio;
  };
  assert.equal(ratioOf({ aspect_ratio: '9:16', ratio: '1:1' }), '9:16');
  assert.equal(ratioOf({ aspect_ratio: null, ratio: '1:1' }), '1:1');
  assert.equal(ratioOf({ aspect_ratio: null }), '16:9');
});

test('what the model of a request sells is not refused, and everything else still is', () => {
  const [standard = assert.fail()] = models.values();
  const { model: name, aliases = [], input: richInput } = rich;
  const own = new Map([[name, { ...standard, model: name, aliases, input: richInput, lastFrame: true }]]);
  const refuse = () => undefined;
  const parseOwn = createTaskRequestParser({
    offer: { models: own },
    refuseMediaUrl: refuse,
    refuseCallbackUrl: refuse,
  });
  const errorsOf = (model: string, input: object) => {
    const body = { model, input: { prompt: 'A cat', ...input } };
    const parsed = translated(body, { ...catalogue, models: own }, parseOwn);
    return parsed.ok ? [] : parsed.errors.map(({ path }) => path);
  };
  for (const model of ['rich', 'studio/rich']) {
    for (const taken of [{ return_last_frame: true }, { first_frame_url: image }, { reference_video_urls: [image] }])
      assert.deepEqual(errorsOf(model, taken), []);
    assert.deepEqual(errorsOf(model, { web_search: true, image_url: image }), ['input.image_url', 'input.web_search']);
  }
});

test('a native request for an alias, or for a name of kie.ai that is not sold, is known as one of kie.ai', () => {
  const ours = { ...rich, model: 'bytedance/ours', aliases: ['studio/rich'] };
  const hintFor = (model: unknown, input: object = { prompt: 'A cat' }) =>
    hintIfKieRequest({ model, input }, indexModelsByName([ours]));
  for (const model of ['studio/rich', 'bytedance/theirs']) assert.match(hintFor(model) ?? '', /^this is a request in/);
  assert.match(hintFor('bytedance/ours', { aspect_ratio: '9:16' }) ?? '', /^this is a request in/);
  for (const model of ['bytedance/ours', 'veo', 7]) assert.equal(hintFor(model), undefined);
});
