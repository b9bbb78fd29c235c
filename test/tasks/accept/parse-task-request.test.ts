import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { maxFieldErrors } from '../../../src/platform/text/field-errors.ts';
import { defaultModels, indexModelsByName } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { createTaskRequestParser } from '../../../src/tasks/accept/parse-task-request.ts';
import type { TaskParam } from '../../../src/catalogue/tasks/task.ts';

const parse = createTaskRequestParser({
  offer: { models: indexModelsByName(defaultModels) },
  refuseMediaUrl: (url) => (url.includes('//10.') ? 'must not point into a private network' : undefined),
  refuseCallbackUrl: (url) => (url.includes('//127.') ? 'must not point to this machine' : undefined),
});

const model = 'videogen-2.0';

/** Parses a request with this input beside a good prompt. */
function withInput(input: Record<string, unknown>) {
  return parse({ model, input: { prompt: 'a boat', ...input } });
}

function accepted(parsed: ReturnType<typeof parse>): TaskParam {
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.param;
}

/** The faults as `path: message`. */
function faults(parsed: ReturnType<typeof parse>): readonly string[] {
  assert.ok(!parsed.ok, 'it was accepted');
  return parsed.errors.map(({ path, message }) => `${path}: ${message}`);
}

test('a request with nothing but a prompt gets every default', () => {
  assert.deepEqual(accepted(parse({ model, input: { prompt: 'a boat' } })), {
    model,
    input: { prompt: 'a boat', resolution: '720p', duration: 5, ratio: '16:9', generateAudio: true, imageUrls: [] },
  });
});

test('a request that says everything is kept as it is said', () => {
  const input = {
    prompt: 'a boat',
    resolution: '720p',
    duration: 15,
    ratio: 'adaptive',
    generateAudio: false,
    imageUrls: ['https://example.com/a.png', 'HTTP://example.com/b.png'],
  };
  const request = { model, input, callBackUrl: 'https://example.com/done' };
  assert.deepEqual(accepted(parse(request)), request);
});

test('null means omitted for every optional field', () => {
  const nothing = { resolution: null, duration: null, ratio: null, generateAudio: null, imageUrls: null };
  const param = accepted(parse({ model, input: { prompt: 'a boat', ...nothing }, callBackUrl: null }));
  assert.deepEqual(param, accepted(parse({ model, input: { prompt: 'a boat' } })));
  assert.ok(!('callBackUrl' in param));
});

test('null does not stand in for a required field', () => {
  assert.deepEqual(faults(parse({ model: null, input: { prompt: null } })), [
    'model: must be one of videogen-2.0, videogen-2.0-fast',
    'input.prompt: must be a string',
  ]);
  assert.deepEqual(faults(parse({ model, input: null })), ['input: must be an object']);
});

test('a required field that is missing is named', () => {
  assert.deepEqual(faults(parse({})), ['model: is required', 'input: is required']);
  assert.deepEqual(faults(parse({ model, input: {} })), ['input.prompt: is required']);
});

for (const [name, letter] of [
  ['letters', 'a'],
  ['emoji of two UTF-16 units', '🎬'],
] as const) {
  test(`a prompt of 5000 ${name} is accepted and one of 5001 is not`, () => {
    assert.equal(accepted(withInput({ prompt: letter.repeat(5000) })).input.prompt, letter.repeat(5000));
    assert.deepEqual(faults(withInput({ prompt: letter.repeat(5001) })), [
      'input.prompt: must be at most 5000 characters',
    ]);
  });
}

for (const [name, prompt, fault] of [
  ['empty', '', 'must not be empty or only white space'],
  ['white space', ' \t\n\u3000\u00a0', 'must not be empty or only white space'],
  ['invisible', '\u200b\u2060\ufeff\u3164\ufe0f', 'must not be empty or only white space'],
  ['a NUL character', 'a\0b', 'must not contain NUL characters or unpaired surrogates'],
  ['a lone high surrogate', 'a\ud83c', 'must not contain NUL characters or unpaired surrogates'],
  ['a lone low surrogate', '\udfacb', 'must not contain NUL characters or unpaired surrogates'],
  ['a number', 5, 'must be a string'],
  ['an array', ['a boat'], 'must be a string'],
] as const) {
  test(`a prompt that is ${name} is refused`, () => {
    assert.deepEqual(faults(withInput({ prompt })), [`input.prompt: ${fault}`]);
  });
}

for (const [duration, seconds] of [
  [3.5, 4],
  [4, 4],
  [4.49, 4],
  [4.5, 5],
  [15, 15],
  [15.49, 15],
] as const) {
  test(`a duration of ${duration} s is rounded half up to ${seconds} s`, () => {
    assert.equal(accepted(withInput({ duration })).input.duration, seconds);
  });
}

for (const duration of [3.49, 15.5, 16, 0, -5, 1e308, -0]) {
  test(`a duration of ${duration} s is out of bounds after rounding`, () => {
    assert.deepEqual(faults(withInput({ duration })), [
      'input.duration: must be 4 to 15 seconds (a fraction is rounded to a whole number)',
    ]);
  });
}

for (const duration of [true, [5], {}, Infinity, NaN, 'five', '5 minutes']) {
  test(`a duration given as ${inspect(duration)} is no number of seconds`, () => {
    assert.deepEqual(faults(withInput({ duration })), ['input.duration: must be a number of seconds']);
  });
}

// Other spellings that published clients and public reports have, with the value that each was probably meant as.
for (const [field, given, meant] of [
  ['duration', '5', '5'],
  ['duration', '5s', '5'],
  ['duration', ' 7.5 seconds', '7.5'],
  ['ratio', '16x9', '16:9'],
  ['ratio', '16/9', '16:9'],
  ['ratio', '9 : 16', '9:16'],
  ['ratio', '1280x720', '16:9'],
  ['ratio', 'Auto', 'adaptive'],
  ['ratio', 'ADAPTIVE ', 'adaptive'],
  ['ratio', 'portrait', '9:16'],
  ['ratio', 'square', '1:1'],
  ['generateAudio', 'false', 'false'],
  ['generateAudio', 'True', 'true'],
  ['generateAudio', 0, 'false'],
] as const) {
  test(`${field} ${JSON.stringify(given)} is refused with ${meant}, which was meant`, () => {
    const [fault, ...others] = faults(withInput({ [field]: given }));
    assert.match(fault ?? '', new RegExp(`^input\\.${field}: must be .*; did you mean ${meant}\\?$`));
    assert.deepEqual(others, []);
  });
}

for (const [field, bad, message] of [
  ['resolution', '1080p', 'must be 720p'],
  ['resolution', 720, 'must be 720p'],
  ['ratio', '16:10', 'must be one of adaptive, 16:9, 9:16, 1:1, 4:3, 3:4, 21:9'],
  ['resolution', '720P', 'must be 720p'],
  ['ratio', '2:1', 'must be one of adaptive, 16:9, 9:16, 1:1, 4:3, 3:4, 21:9'],
  ['generateAudio', 'loud', 'must be true or false'],
  ['imageUrls', 'https://example.com/a.png', 'must be an array of at most 9 URLs; put the URL into an array'],
  ['imageUrls', 7, 'must be an array of at most 9 URLs'],
] as const) {
  test(`${field} refuses ${JSON.stringify(bad)}`, () => {
    assert.deepEqual(faults(withInput({ [field]: bad })), [`input.${field}: ${message}`]);
  });
}

test('a model that is not in the catalogue is refused with those that are', () => {
  for (const name of ['veo', '', '__proto__', 'constructor']) {
    assert.deepEqual(faults(parse({ model: name, input: { prompt: 'x' } })), [
      'model: must be one of videogen-2.0, videogen-2.0-fast',
    ]);
  }
  for (const name of ['VIDEOGEN-2.0', 'videogen-2.0 ', 'videogen-2', 'videogen-3'])
    assert.deepEqual(faults(parse({ model: name, input: { prompt: 'x' } })), [
      'model: must be one of videogen-2.0, videogen-2.0-fast; did you mean videogen-2.0?',
    ]);
});

function images(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `https://example.com/${i}.png`);
}

test('nine images are accepted and ten are not', () => {
  assert.equal(accepted(withInput({ imageUrls: images(9) })).input.imageUrls.length, 9);
  assert.deepEqual(faults(withInput({ imageUrls: images(10) })), ['input.imageUrls: must hold at most 9 URLs']);
});

function urlOf(length: number): string {
  return 'https://example.com/'.padEnd(length, 'a');
}

test('a URL of 8192 characters is accepted and one of 8193 is not', () => {
  assert.ok(withInput({ imageUrls: [urlOf(8192)] }).ok);
  assert.deepEqual(faults(withInput({ imageUrls: [urlOf(8193)] })), [
    'input.imageUrls[0]: must be at most 8192 characters',
  ]);
});

for (const url of ['ftp://example.com/a', '//example.com/a', 'http://', 'example.com/a b', '']) {
  test(`"${url}" is no http or https URL`, () => {
    assert.deepEqual(faults(withInput({ imageUrls: [url] })), ['input.imageUrls[0]: must be an http or https URL']);
  });
}

for (const url of [
  `data:image/png;base64,${'A'.repeat(3_000)}`,
  'file:///etc/passwd',
  './boat.jpg',
  'C:\\boat.png',
  'boat.jpg',
]) {
  test(`a file in the place of a URL is led to the uploads: ${url.slice(0, 20)}`, () => {
    assert.deepEqual(faults(withInput({ imageUrls: [url] })), [
      'input.imageUrls[0]: must be an http or https URL; upload a file with POST /api/v1/uploads (over MCP, upload_media), and give the url of the response',
    ]);
  });
}

for (const url of ['http://example.com/a b', 'http://exa\tmple.com/', ' http://example.com', 'http://example.com/\0']) {
  test(`a URL with white space or control characters is refused: ${JSON.stringify(url)}`, () => {
    assert.deepEqual(faults(withInput({ imageUrls: [url] })), [
      'input.imageUrls[0]: must not contain white space or control characters',
    ]);
  });
}

test("the outbound guard's verdict is the fault of the very URL", () => {
  const parsed = parse({
    model,
    input: { prompt: 'x', imageUrls: ['https://example.com/a.png', 'http://10.0.0.1/b.png'] },
    callBackUrl: 'http://127.0.0.1/done',
  });
  assert.deepEqual(faults(parsed).toSorted(), [
    'callBackUrl: must not point to this machine',
    'input.imageUrls[1]: must not point into a private network',
  ]);
});

for (const videoUrls of [null, [], ['https://example.com/a.mp4'], 'https://example.com/a.mp4', {}, '', 0, false]) {
  test(`videoUrls is refused in any form: ${JSON.stringify(videoUrls)}`, () => {
    assert.deepEqual(faults(withInput({ videoUrls })), [
      'input.videoUrls: reference video is not supported; leave this field out',
    ]);
  });
}

for (const [where, name, hint] of [
  ['input', 'aspect_ratio', ', did you mean ratio?'],
  ['input', 'image_urls', ', did you mean imageUrls?'],
  ['input', 'reference_image_urls', ', did you mean imageUrls?'],
  ['input', 'generate_audio', ', did you mean generateAudio?'],
  ['input', 'promt', ', did you mean prompt?'],
  ['input', 'callBackUrl', ', did you mean callBackUrl beside input?'],
  ['', 'callbackurl', ', did you mean callBackUrl?'],
  ['', 'callback_url', ', did you mean callBackUrl?'],
  ['', 'prompt', ', did you mean input.prompt?'],
  ['', 'duration', ', did you mean input.duration?'],
  ['', '日本語', ''],
  ['', '', ''],
] as const) {
  test(`an unknown field is refused and the nearest known one named: ${where}.${name}`, () => {
    const good = { model, input: { prompt: 'x' } };
    const body = where === '' ? { ...good, [name]: 1 } : { model, input: { ...good.input, [name]: 1 } };
    const path = [where, name].filter(Boolean).join('.');
    assert.deepEqual(faults(parse(body)), [`${path}: unknown field${hint}`]);
  });
}

test('a key named __proto__ or constructor is an unknown field like any other and pollutes nothing', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    for (const text of [
      `{"model":"${model}","input":{"prompt":"x"},"${name}":{"polluted":1}}`,
      `{"model":"${model}","input":{"prompt":"x","${name}":{"polluted":1}}}`,
    ]) {
      assert.equal(faults(parse(JSON.parse(text))).length, 1, text);
    }
  }
  assert.ok(!('polluted' in {}));
});

test('fields cannot be smuggled in through __proto__', () => {
  const parsed = parse(JSON.parse(`{"model":"${model}","input":{"__proto__":{"prompt":"x"}}}`));
  assert.ok(faults(parsed).includes('input.prompt: is required'));
});

test('every fault is told at once', () => {
  const parsed = parse({
    model: 'gpt',
    input: {
      prompt: '',
      resolution: '4k',
      duration: 99,
      ratio: '2:1',
      generateAudio: 1,
      imageUrls: ['x'],
      videoUrls: [],
      seed: 1,
    },
    callBackUrl: 'x',
    extra: 1,
  });
  const paths = faults(parsed).map((fault) => fault.slice(0, fault.indexOf(':')));
  assert.deepEqual(paths.toSorted(), [
    'callBackUrl',
    'extra',
    'input.duration',
    'input.generateAudio',
    'input.imageUrls[0]',
    'input.prompt',
    'input.ratio',
    'input.resolution',
    'input.seed',
    'input.videoUrls',
    'model',
  ]);
});

test('no more faults are told than the bound, however many there are', () => {
  const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field${i}`, i]));
  assert.equal(faults(parse({ model, input: { prompt: 'x', ...unknown } })).length, maxFieldErrors);
  const urls = Array.from({ length: 5000 }, () => 'x');
  assert.ok(faults(withInput({ imageUrls: urls })).length <= maxFieldErrors);
});

for (const body of [null, undefined, [], 'x', 5, true]) {
  test(`a body that is ${JSON.stringify(body)} is refused as a whole`, () => {
    assert.deepEqual(faults(parse(body)), [': must be a JSON object']);
  });
}

test('deeply nested values anywhere are refused without trouble', () => {
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  for (const body of [
    deep,
    { model: deep, input: deep, callBackUrl: deep },
    {
      model,
      input: { prompt: deep, imageUrls: deep, duration: deep, ratio: deep, generateAudio: deep, resolution: deep },
    },
    { model, input: { prompt: 'x', imageUrls: [deep], deep } },
  ]) {
    assert.ok(faults(parse(body)).length > 0);
  }
});
