import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fieldsPassedByEntry } from '../../../src/catalogue/input/fields-sent-upstream.ts';
import { fieldsPassedByFile, usesMedia } from '../../../src/catalogue/providers/fields-passed-by-provider-file.ts';
import { compileExpression } from '../../../src/catalogue/providers/jsonata-expression.ts';
import { providerSchema, type ProviderSettings, videoDialects } from '../../../src/catalogue/file/provider-schema.ts';
import { arkJobBody as arkBody } from '../../../src/providers/ark/ark-create-body.ts';
import type { FrozenConfig, JobRequest, RequestBody } from '../../../src/providers/provider-contract.ts';
import { bodyOfCreate, dialects } from '../../../src/providers/openai-videos/videos-dialects.ts';
import { ownJobBody as ownBody } from '../../../src/providers/own/own-provider.ts';
import type { PreparedReferenceImage } from '../../../src/catalogue/media/media-by-role.ts';
import {
  type FieldName,
  inputFieldNames,
  type TaskInput,
  withDefaults,
} from '../../../src/catalogue/input/task-input.ts';
import { jobRequest } from '../../providers/contract/job-request.ts';

// A field that a kind declares as sent changes its request, and one that it declares as ignored does not. So a declaration that an
// adapter does not fulfill is found, in both directions.

const jobKey = '019abc12-3456-7def-8901-234567890abc';
const url = 'https://client.example/media';
const link = 'https://media.example/copy';

/** A value of each field that differs from the default. */
const chosen: { readonly [Name in FieldName]: NonNullable<TaskInput[Name]> } = {
  prompt: 'another prompt',
  negativePrompt: 'rain',
  resolution: '480p',
  duration: 9,
  ratio: '9:16',
  generateAudio: false,
  imageUrls: [url],
  firstFrameUrl: url,
  lastFrameUrl: url,
  videoUrls: [url],
  audioUrls: [url],
  seed: 7,
  options: { cameraFixed: true },
};

let folder: string;
let image: PreparedReferenceImage;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-passed-'));
  image = { path: join(folder, 'image.jpg'), widthPx: 1600, heightPx: 900 };
  await writeFile(image.path, 'any bytes');
});
after(() => rm(folder, { recursive: true }));

/** The request of a task that has one field more than the least. */
function requestWith(field: FieldName | undefined): JobRequest {
  const input = withDefaults({ prompt: 'a prompt', ...(field && { [field]: chosen[field] }) });
  const frames = {
    firstFrame: field === 'firstFrameUrl' ? image : undefined,
    lastFrame: field === 'lastFrameUrl' ? image : undefined,
  };
  const links = { videos: field === 'videoUrls' ? [link] : [], audios: field === 'audioUrls' ? [link] : [] };
  const images = field === 'imageUrls' ? [image] : [];
  return jobRequest({ jobKey, accountHash: 'account', input, frames, links, images });
}

type Sender = {
  readonly name: string;
  readonly settings: ProviderSettings;
  readonly upstreamModel?: string;
  readonly body: (request: JobRequest, config: FrozenConfig) => Promise<RequestBody>;
};

const baseUrl = 'http://upstream.example';
const senders: readonly Sender[] = [
  { name: 'own', settings: providerSchema.parse({ kind: 'own', baseUrl }), body: ownBody },
  { name: 'ark', settings: providerSchema.parse({ kind: 'ark', baseUrl }), body: arkBody },
  ...videoDialects.map((dialect): Sender => ({
    name: dialect,
    settings: providerSchema.parse({ kind: 'openai-videos', dialect, baseUrl }),
    // The only model of vLLM-Omni with a last frame.
    ...(dialect === 'vllm-omni' && { upstreamModel: 'MiniMax-H3' }),
    body: (request, config) => bodyOfCreate(dialects[dialect], request, config),
  })),
];

for (const { name, settings, upstreamModel = 'model', body } of senders) {
  describe(`a request of ${name}`, () => {
    const config: FrozenConfig = { kind: settings.kind, baseUrl, upstreamModel, options: {} };
    const entry = { upstreamModel, parameters: {} };
    const passes = fieldsPassedByEntry(entry, settings, { files: new Map(), canFetch: () => true });
    for (const field of inputFieldNames) {
      const key = field === 'options' ? 'options.cameraFixed' : field;
      test(`${passes.has(key) ? 'changes' : 'does not change'} with ${field}`, async () => {
        const [plain, other] = [await body(requestWith(undefined), config), await body(requestWith(field), config)];
        assert.equal(textOf(plain) !== textOf(other), passes.has(key));
        assert.doesNotMatch(textOf(other), /client\.example/);
      });
    }
  });
}

/** Forms have a random boundary between their fields. */
function textOf({ contentType, bytes }: RequestBody): string {
  const [, boundary] = /boundary=(\S+)/.exec(contentType) ?? [];
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString();
  return boundary === undefined ? text : text.replaceAll(boundary, 'boundary');
}

const byExpression: readonly (readonly [
  json: string,
  fields: readonly FieldName[],
  options: readonly string[] | 'all',
])[] = [
  ["{ 'a': 1 }", [], []],
  ['input.prompt', ['prompt'], []],
  ['input.prompt.length', ['prompt'], []],
  ['$$.input.negativePrompt', ['negativePrompt'], []],
  ['[width, height]', ['resolution', 'ratio'], []],
  ["{ 'd': input.duration, 's': input.seed, 'g': input.generateAudio }", ['duration', 'generateAudio', 'seed'], []],
  ['[images.url, firstFrame.url]', ['imageUrls', 'firstFrameUrl'], []],
  ['[lastFrame, videos, audios]', ['lastFrameUrl', 'videoUrls', 'audioUrls'], []],
  ['[input.options.style, input.options.steps]', ['options'], ['style', 'steps']],
  ['$snakeKeys(input.options)', ['options'], 'all'],
  ['input', ['prompt', 'negativePrompt', 'resolution', 'duration', 'ratio', 'generateAudio', 'seed', 'options'], 'all'],
  ['prompt', [], []],
  ['input.', [], []],
];

for (const [json, fields, options] of byExpression)
  test(`a file whose request is ${json} passes on ${fields.join(', ') || 'nothing'}`, () => {
    for (const create of [{ json }, { path: json, json: '1' }]) {
      const passed = fieldsPassedByFile({ create });
      assert.deepEqual([...passed.fields], fields);
      assert.deepEqual(passed.options === 'all' ? 'all' : [...passed.options], options);
    }
  });

test('a file without a request passes on nothing', () => {
  for (const data of [undefined, null, {}, { create: null }, { create: { json: 7 } }])
    assert.deepEqual(fieldsPassedByFile(data), { fields: new Set(), options: new Set() });
});

test('a request uses the roles of media whose data its path or its body reads', () => {
  const none = compileExpression('input.prompt');
  const used = compileExpression("{ 'a': firstFrame.url, 'b': input.images }");
  for (const [path, json] of [
    [none, used],
    [used, none],
  ] as const) {
    const file = { create: { path, json } } as Parameters<typeof usesMedia>[0];
    assert.equal(usesMedia(file, ['firstFrame']), true);
    assert.equal(usesMedia(file, ['images', 'firstFrame']), true);
    assert.equal(usesMedia(file, ['images', 'lastFrame']), false);
  }
});
