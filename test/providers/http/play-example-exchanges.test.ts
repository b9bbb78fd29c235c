import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { parseProviderFile } from '../../../src/catalogue/providers/provider-file-schema.ts';
import { playExample } from '../../../src/providers/http/play-example-exchanges.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { dataUrl } from '../contract/all-fields.ts';

const job = { id: 'v1' };
const video = 'https://cdn.example/v1.mp4';

/** Plays these exchanges by a file whose create has this body. */
async function played(exchanges: readonly object[], json = "{ 'prompt': input.prompt }") {
  const { file, problems } = parseProviderFile({
    auth: { kind: 'bearer' },
    images: 'data-url',
    clips: 'data-url',
    create: { path: "'/videos'", json, id: 'body.id' },
    find: { path: "'/videos'", id: 'body.ids' },
    status: {
      path: "'/videos/' & job.id",
      state: 'body.status',
      states: { waiting: 'queued', working: 'running', done: 'succeeded', broken: 'failed' },
      missing: "body.code = 'gone'",
    },
    result: { url: 'body.url' },
    cancel: {
      method: 'DELETE',
      path: "'/videos/' & job.id",
      cancelled: 'status = 204',
      ended: "body.code = 'gone'",
    },
    error: { code: 'body.code', message: 'body.message' },
    errors: [
      { status: 429, kind: 'busy' },
      { code: 'bad_image', kind: 'image' },
    ],
    example: {
      baseUrl: 'https://api.example',
      model: 'fox-1',
      input: { prompt: 'a fox', duration: 5 },
      job,
      video,
      exchanges,
    },
  });
  assert.deepEqual(problems, []);
  assert.ok(file);
  return await playExample(file);
}

const [create, find] = ['POST /videos', 'GET /videos'].map((request) => ({ request }));
const status = { step: 'status', request: 'GET /videos/v1' };
const cancel = { step: 'cancel', request: 'DELETE /videos/v1' };

test('each difference from the example is named, and nothing else', async (t) => {
  const named = (found: object) => `names the job ${JSON.stringify(found)} instead of {"id":"v1","handle":{}}`;
  const cases: readonly (readonly [exchange: object, ...differences: string[]])[] = [
    [{ step: 'create', ...create, sends: { prompt: 'a fox' }, answer: job, means: 'accepted' }],
    [{ step: 'create', ...create, answer: { id: 'v2' }, means: 'accepted' }, named({ kind: 'accepted', id: 'v2' })],
    [{ step: 'create', ...create, status: 429, answer: { code: 'full' }, means: 'busy' }],
    [{ step: 'create', ...create, status: 400, answer: { code: 'bad_image' }, means: 'image' }],
    [{ step: 'create', ...create, status: 500, means: 'unknown' }],
    [
      { step: 'create', ...create, status: 429, answer: { code: 'x' }, means: 'accepted' },
      'means busy instead of accepted',
    ],
    [
      {
        step: 'create',
        request: 'PUT /films',
        sends: { prompt: 'a cat' },
        answer: { code: 'bad_image' },
        means: 'image',
      },
      'sends POST /videos instead of PUT /films',
      'sends {"prompt":"a fox"} instead of {"prompt":"a cat"}',
      'means unknown instead of image',
    ],
    [{ step: 'find', ...find, answer: { ids: ['v1'] }, means: 'found' }],
    [{ step: 'find', ...find, answer: { ids: ['v2'] }, means: 'found' }, named({ kind: 'found', id: 'v2' })],
    [{ step: 'find', ...find, answer: { ids: [] }, means: 'found' }, 'means unknown instead of found'],
    [{ step: 'find', ...find, status: 500, means: 'later' }],
    [{ ...status, answer: { status: 'waiting' }, means: 'queued' }],
    [{ ...status, answer: { status: 'working' }, means: 'running' }],
    [{ ...status, answer: { status: 'done', url: video }, means: 'succeeded' }],
    [
      { ...status, answer: { status: 'done', url: 'https://cdn.example/v2.mp4' }, means: 'succeeded' },
      `finds the video at "https://cdn.example/v2.mp4" instead of ${video}`,
    ],
    [{ ...status, answer: { status: 'broken', code: 'bad_image' }, means: 'image' }],
    [{ ...status, status: 404, answer: { code: 'gone' }, means: 'missing' }],
    [{ ...status, status: 502, means: 'unclear' }],
    [{ ...cancel, status: 204, means: 'cancelled' }],
    [{ ...cancel, status: 404, answer: { code: 'gone' }, means: 'ended' }],
    [{ ...cancel, status: 405, means: 'runs_on' }],
    [{ ...cancel, status: 500, means: 'runs_on' }, 'means unclear instead of runs_on'],
  ];
  const [folder, before] = [await temporaryFolder(t), tmpdir()];
  process.env['TMPDIR'] = folder;
  t.after(() => void (process.env['TMPDIR'] = before));
  const found = await played(cases.map(([exchange]) => exchange));
  assert.deepEqual(await readdir(folder), [], 'the media of the example are deleted');
  assert.deepEqual(
    found.map(({ differences }) => differences),
    cases.map(([, ...differences]) => differences),
  );
});

test('an exchange has the input and the media that it gives, and the others of the example', async () => {
  const json = `{
    'model': model, 'input': input, 'size': [width, height], 'seconds': deadlineSeconds, 'account': accountHash,
    'images': [images.url], 'first': firstFrame.url, 'last': lastFrame.url, 'videos': [videos.url], 'audios': [audios.url],
    'counts': [imageCount, videoCount, audioCount], 'hasFrames': [hasFirstFrame, hasLastFrame], 'name': jobKey
  }`;
  const asked = { step: 'create', ...create, answer: job, means: 'accepted' };
  const media = { imageCount: 2, firstFrame: true, lastFrame: true, videoCount: 2, audioCount: 1 };
  const [given, plain] = await played([{ ...asked, given: { model: 'fox-2', duration: 8, ...media } }, asked], json);
  const shared = { seconds: 1800, account: 'ab'.repeat(32), name: '019abc12-3456-7def-8901-234567890abc' };
  const input = { prompt: 'a fox', resolution: '720p', ratio: '16:9', generateAudio: true };
  const image = (text: string) => dataUrl('image/jpeg', text);
  assert.deepEqual(given?.requests, [
    {
      line: 'POST /videos',
      body: {
        ...shared,
        model: 'fox-2',
        input: { ...input, duration: 8 },
        size: [1280, 720],
        images: [image('image 1'), image('image 2')],
        first: image('first 1'),
        last: image('last 1'),
        videos: [dataUrl('video/mp4', 'video 1'), dataUrl('video/mp4', 'video 2')],
        audios: [dataUrl('audio/mpeg', 'audio 1')],
        counts: [2, 2, 1],
        hasFrames: [true, true],
      },
    },
  ]);
  assert.deepEqual(plain?.requests, [
    {
      line: 'POST /videos',
      body: {
        ...shared,
        model: 'fox-1',
        input: { ...input, duration: 5 },
        size: [1280, 720],
        images: [],
        videos: [],
        audios: [],
        counts: [0, 0, 0],
        hasFrames: [false, false],
      },
    },
  ]);
  assert.deepEqual(plain.values, [
    { field: 'create.path', outcome: { value: '/videos' } },
    { field: 'create.json', outcome: { value: plain.requests[0]?.body } },
    { field: 'create.id', outcome: { value: 'v1' } },
    { field: 'error.code', outcome: { value: undefined } },
    { field: 'error.message', outcome: { value: undefined } },
  ]);
});
