import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arkCreateBody as arkBody, readArkRequest } from '../../../src/api/dialects/ark/ark-request.ts';
import { findUnusedKieFields } from '../../../src/api/dialects/kie/kie-request.ts';
import { readFrames, readReference, readReferences } from '../../../src/api/dialects/read-frames-and-references.ts';
import { readOpenAIRequest } from '../../../src/api/dialects/openai/openai-request.ts';
import {
  openRouterCreateBody as openRouterBody,
  readOpenRouterRequest,
} from '../../../src/api/dialects/openrouter/openrouter-request.ts';
import { setUnusedHeader } from '../../../src/api/dialects/unused-fields.ts';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { indexModelsByName } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { plain, rich } from './openai/openai-stage.ts';

// What the translations return as a whole; the tests of each API have what its requests become.

const models = indexModelsByName([rich, plain]);
const [one, two] = ['https://client.example/1', 'https://client.example/2'];

test('OpenAI: every field of a request is used, named or reported', () => {
  const { request, names } = readOpenAIRequest(
    {
      model: 'rich',
      prompt: 'A',
      seconds: '8',
      callback_url: one,
      user: 'u',
      safety_identifier: 's',
      metadata: { order: '1', image: two, prompt: 'a copy' },
      n: '1',
    },
    models,
  );
  assert.deepEqual(request, {
    model: 'rich',
    input: { prompt: 'A', duration: 8, firstFrameUrl: two },
    callBackUrl: one,
    errors: [],
    unused: ['user', 'safety_identifier', 'metadata.order', 'metadata.prompt'],
  });
  assert.deepEqual(names, {
    'input.prompt': 'prompt',
    'input.duration': 'seconds',
    callBackUrl: 'callback_url',
    'input.firstFrameUrl': 'metadata.image',
  });
});

test('OpenAI: metadata that is no object, and its content that is no list, are reported as unused', () => {
  const unusedOf = (metadata: unknown) => {
    const { unused, errors } = readOpenAIRequest({ model: 'plain', prompt: 'A', metadata }, models).request;
    assert.deepEqual(errors, []);
    return unused;
  };
  assert.deepEqual(unusedOf('an order'), ['metadata']);
  assert.deepEqual(unusedOf({ content: 'words' }), ['metadata.content']);
  assert.deepEqual(unusedOf(undefined), []);
});

for (const [field, value, ours, path] of [
  ['input_reference', one, 'firstFrameUrl', 'metadata.input_reference'],
  ['frame_images', [one], 'firstFrameUrl', 'metadata.frame_images[0]'],
  ['input_references', [one], 'imageUrls[0]', 'metadata.input_references[0]'],
] as const) {
  test(`OpenAI: ${field} is used in metadata, too, and named by its place there`, () => {
    const { request, names } = readOpenAIRequest({ model: 'rich', prompt: 'A', metadata: { [field]: value } }, models);
    const nameOf = new Map(Object.entries(names));
    assert.deepEqual([request.errors, request.unused], [[], []]);
    assert.deepEqual([request.input[ours.replace('[0]', '')]].flat(), [one]);
    assert.equal(nameOf.get(`input.${ours}`), path);
  });
}

test('OpenAI: an item of metadata that cannot be read is named by its place, and a second frame is not dropped', () => {
  const read = (more: object) => readOpenAIRequest({ model: 'rich', prompt: 'A', ...more }, models).request;
  const { errors = [] } = read({ metadata: { input_references: [7] } });
  assert.deepEqual(
    errors.map(({ path }) => path),
    ['metadata.input_references[0]'],
  );
  assert.deepEqual(read({ first_frame: [one, two] }).input['firstFrameUrl'], [one, two]);
});

test('OpenRouter: every field of a request is used, named or reported', () => {
  const body = openRouterBody.parse({
    model: 'studio/rich',
    prompt: 'A',
    user: 'u',
    session_id: null,
    trace: {},
    callback_url: one,
    provider: { options: { videogen: { negative_prompt: 'fog' } } },
  });
  const { request, names } = readOpenRouterRequest(body, models);
  const absent = { duration: undefined, resolution: undefined, ratio: undefined, generateAudio: undefined };
  assert.deepEqual(request, {
    model: 'studio/rich',
    input: { prompt: 'A', ...absent, seed: undefined, negativePrompt: 'fog', options: undefined },
    callBackUrl: one,
    errors: [],
    unused: ['user', 'trace'],
  });
  assert.deepEqual(names, {
    callBackUrl: 'callback_url',
    'input.prompt': 'prompt',
    'input.negativePrompt': 'provider.options.videogen.negative_prompt',
    'input.resolution': 'resolution',
    'input.duration': 'duration',
    'input.ratio': 'aspect_ratio',
    'input.generateAudio': 'generate_audio',
    'input.imageUrls': 'input_references',
    'input.videoUrls': 'input_references',
    'input.audioUrls': 'input_references',
    'input.seed': 'seed',
    'input.options': 'provider.options.videogen',
  });
});

test('Ark: every field of a request is used, named or reported', () => {
  const body = arkBody.parse({
    model: 'videogen-2.0',
    content: 'A',
    callback_url: one,
    safety_identifier: 'u',
    execution_expires_after: null,
    framespersecond: 24,
    watermark: false,
  });
  const { request, names } = readArkRequest(body, builtInCatalogue().models);
  assert.deepEqual(request, {
    model: 'videogen-2.0',
    input: { ratio: 'adaptive', prompt: 'A' },
    callBackUrl: one,
    endUser: 'u',
    errors: [],
    unused: ['framespersecond'],
  });
  assert.deepEqual(names, {
    frames: 'content',
    'input.imageUrls': 'content',
    'input.videoUrls': 'content',
    'input.audioUrls': 'content',
    'input.prompt': 'content.text',
    callBackUrl: 'callback_url',
    'input.negativePrompt': 'negative_prompt',
    'input.generateAudio': 'generate_audio',
  });
});

test('kie: fields without a value, and those that are used or refused, are not reported as unused', () => {
  const unusedOf = (model: unknown) =>
    findUnusedKieFields(
      {
        model,
        input: { prompt: 'A', ratio: '1:1', aspect_ratio: '1:1', speed: 2, tone: '', image_url: one, web_search: true },
        callBackUrl: one,
        extra: 1,
        nothing: null,
        blank: '',
      },
      builtInCatalogue().models,
    );
  for (const model of ['videogen-2.0', 'bytedance/seedance-2', 7])
    assert.deepEqual(unusedOf(model), ['extra', 'input.speed']);
  assert.deepEqual(findUnusedKieFields({ model: 'videogen-2.0', input: 'words' }, builtInCatalogue().models), []);
});

test('an address is found in each of its forms', () => {
  const file = new Blob(['a file']);
  for (const [value, type, expected] of [
    [one, undefined, { type: 'image_url', url: one, path: '' }],
    [one, 'video_url', { type: 'video_url', url: one, path: '' }],
    [one, 'video', { type: 'video_url', url: one, path: '' }],
    [one, 'input_audio', { type: 'audio_url', url: one, path: '' }],
    [file, undefined, { type: 'image_url', url: file, path: '' }],
    [{ url: one }, undefined, { type: 'image_url', url: one, path: '.url' }],
    [{ url: one }, 'audio_url', { type: 'audio_url', url: one, path: '.url' }],
    [{ image_url: null, video_url: one }, undefined, { type: 'video_url', url: one, path: '.video_url' }],
    [{ audio_url: { url: one } }, 'image_url', { type: 'audio_url', url: one, path: '.audio_url.url' }],
    [{ image_url: file }, undefined, { type: 'image_url', url: file, path: '.image_url' }],
    [{ image_url: { a: 1 } }, undefined, { type: 'image_url', url: { a: 1 }, path: '.image_url' }],
    [{ other: one }, undefined, undefined],
    [null, undefined, undefined],
    [7, 'image_url', undefined],
  ] as const)
    assert.deepEqual(readReference(value, type), expected, JSON.stringify(value));
});

test('a frame must be an image, and fields of an item that mean nothing are refused', () => {
  const pathsOf = ({ errors }: { readonly errors: readonly { readonly path: string }[] }) =>
    errors.map(({ path }) => path);
  assert.deepEqual(pathsOf(readFrames('frames', [{ frame_type: 'last_frame', video_url: one }])), [
    'frames[0].video_url',
  ]);
  assert.deepEqual(pathsOf(readFrames('frames', [{ frame_type: 'last_frame', image_url: one, weight: 1 }])), [
    'frames[0].weight',
  ]);
  assert.deepEqual(readFrames('frames', [{ frame_type: null, image_url: one, url: null }, undefined, null]), {
    fields: [{ ours: 'firstFrameUrl', theirs: 'frames[0].image_url', value: one }],
    errors: [],
  });
  const known = { type: 'image_url', role: 'reference_image', image_url: one, detail: 'auto', weight: null };
  assert.deepEqual(pathsOf(readReferences('list', [known, null])), []);
  assert.deepEqual(pathsOf(readReferences('list', [{ ...known, detail: 'high' }, new Blob(['a file'])])), [
    'list[0].detail',
  ]);
});

test('the header of unused fields has at most twenty names of 64 characters that a header may hold', () => {
  const headerOf = (paths: readonly string[] | undefined) => {
    const sent: unknown[] = [];
    setUnusedHeader({ set: (...field: readonly unknown[]) => void sent.push(field) }, paths);
    return sent;
  };
  for (const nothing of [undefined, []]) assert.deepEqual(headerOf(nothing), []);
  assert.deepEqual(headerOf(['a,b é', 'x'.repeat(65)]), [['Unused-Fields', `a?b??, ${'x'.repeat(64)}`]]);
  const many = Array.from({ length: 21 }, (_, index) => `f${index}`);
  assert.deepEqual(headerOf(many), [['Unused-Fields', many.slice(0, 20).join(', ')]]);
});
