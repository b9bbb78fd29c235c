import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  parameterSchemas,
  providerSchema,
  type ProviderSettings,
  videoDialects,
} from '../../../src/catalogue/file/provider-schema.ts';
import type { ReferencedFilesByName } from '../../../src/catalogue/file/cross-checks.ts';
import { fieldsPassedByEntry } from '../../../src/catalogue/input/fields-sent-upstream.ts';
import { inputFieldNames } from '../../../src/catalogue/input/task-input.ts';
import { kinds } from '../../fakes/provider-kinds.ts';
import { carriedBy } from '../../support/every-field/carried-fields.ts';
import { fieldKinds } from '../../support/every-field/field-kinds.ts';

// test/service/every-field.full.test.ts compares the requests that upstreams get with the parts of requests that stand in
// test/support/every-field. Here it is only checked that no part and no kind is missing.

/** `preview` has no upstream. */
const declaredKinds = Object.keys(parameterSchemas).filter((kind) => kind !== 'preview');

for (const [name, kind] of Object.entries(fieldKinds)) {
  test(`each field that ${name} passes on has its part of a request, and no other field`, () => {
    const parts = new Set(kind.tasks.flatMap(({ sent }) => Object.keys(sent)));
    assert.deepEqual(
      inputFieldNames.filter((field) => parts.has(field)),
      carriedBy(kind),
    );
  });
}

test('a template can have a placeholder for every field', () => {
  for (const name of ['comfyui', 'comfy-v2', 'cog'])
    assert.deepEqual(carriedBy(fieldKinds[name] ?? assert.fail()), inputFieldNames);
});

test('each kind of provider, and each dialect, has requests with every field', () => {
  const tested = Object.values(fieldKinds).map(({ settings: { kind, dialect } }) => [kind, dialect].join(' '));
  const dialects = videoDialects.map((dialect) => `openai-videos ${dialect}`);
  const others = declaredKinds.filter((kind) => kind !== 'openai-videos');
  assert.deepEqual([...new Set(tested)].toSorted(), [...dialects, ...others.map((kind) => `${kind} `)].toSorted());
});

test('each kind of provider has a fake, against which the contract of providers is tested', () => {
  const faked = new Set([...kinds.values()].map(({ settings }) => settings['kind']));
  assert.deepEqual(
    declaredKinds.filter((kind) => !faked.has(kind)),
    [],
  );
});

const baseUrl = 'http://upstream.example';

function passedBy(settings: ProviderSettings, canFetch: boolean, files: ReferencedFilesByName = new Map()) {
  const passed = fieldsPassedByEntry({ upstreamModel: 'm', parameters: {} }, settings, {
    files,
    canFetch: () => canFetch,
  });
  return inputFieldNames.filter((name) => passed.has(name === 'options' ? 'options.style' : name));
}

test('the preview passes on all but negative prompts, clips and options, which it cannot draw', () => {
  const left = ['negativePrompt', 'videoUrls', 'audioUrls', 'options'];
  assert.deepEqual(
    passedBy({ kind: 'preview' }, true),
    inputFieldNames.filter((name) => !left.includes(name)),
  );
});

const clips = ['videoUrls', 'audioUrls'];
const pictures = ['imageUrls', 'firstFrameUrl', 'lastFrameUrl'];

test('clips go by link, so an upstream that cannot reach us gets none', () => {
  for (const fields of [{ kind: 'own' }, { kind: 'ark' }, { kind: 'openai-videos', dialect: 'openrouter' }]) {
    const settings = providerSchema.parse({ ...fields, baseUrl });
    const reachable = passedBy(settings, true);
    assert.deepEqual(
      passedBy(settings, false),
      reachable.filter((name) => !clips.includes(name)),
    );
    assert.deepEqual(
      reachable.filter((name) => clips.includes(name)),
      clips,
    );
  }
});

test('a file passes on media by link to an upstream that can reach us only, and others always', () => {
  const json = '{ "p": input.prompt, "i": images, "f": firstFrame, "l": lastFrame, "v": videos, "a": audios }';
  const settings = providerSchema.parse({ kind: 'http', baseUrl, file: './file.yaml' });
  for (const [how, unreachable] of [
    [{ images: 'link', clips: 'link' }, ['prompt']],
    [{ images: 'link' }, ['prompt']],
    [{ images: 'link', clips: 'data-url' }, ['prompt', ...clips]],
    [{ images: 'data-url', clips: 'link' }, ['prompt', ...pictures]],
    [{ images: 'upload', clips: 'data-url' }, ['prompt', ...pictures, ...clips]],
  ] as const) {
    const files: ReferencedFilesByName = new Map([['./file.yaml', { data: { create: { json } }, ...how }]]);
    assert.deepEqual(passedBy(settings, false, files), unreachable, JSON.stringify(how));
    assert.deepEqual(passedBy(settings, true, files), ['prompt', ...pictures, ...clips]);
  }
});
