import type { JsonObject } from '../../../src/platform/text/json.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { parseProviderFile } from '../../../src/catalogue/providers/provider-file-schema.ts';
import { fieldsPassedByFile } from '../../../src/catalogue/providers/fields-passed-by-provider-file.ts';
import { readsOption } from '../../../src/catalogue/providers/input-template-placeholders.ts';
import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import { inputFieldNames, mediaUrlsOf, withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { allFields, allMedia, contents, dataUrl } from '../contract/all-fields.ts';
import { jobRequest, type JobChanges, signal } from '../contract/job-request.ts';
import { httpProvider } from './shipped-file.ts';

/** A file whose request has the body of this expression. */
function fileWith(json: string, changes: object = {}) {
  return {
    auth: { kind: 'none' },
    images: 'data-url',
    clips: 'data-url',
    create: { path: "'/jobs'", json, id: 'body.id' },
    status: { path: "'/jobs/' & job.id", state: 'body.state', states: { done: 'succeeded' } },
    result: { url: 'body.url' },
    example: {
      baseUrl: 'https://vendor.example',
      model: 'm',
      input: { prompt: 'x' },
      job: { id: '1' },
      video: 'https://vendor.example/1.mp4',
      exchanges: [{ step: 'create', request: 'POST /jobs', means: 'unknown' }],
    },
    ...changes,
  };
}

async function sentBy(data: object, changes: JobChanges) {
  const { file, problems } = parseProviderFile(data);
  assert.ok(file, JSON.stringify(problems));
  const bodies: string[] = [];
  const client: UpstreamClient = {
    call: async (_method, _path, { body }) => {
      bodies.push(String(body?.bytes));
      return { status: 200, headers: {}, body: Buffer.from('{"id":"1"}') };
    },
    download: async () => undefined,
  };
  const provider = httpProvider(file, client, { warn: (event, detail) => assert.fail(`${event}: ${detail}`) });
  const outcome = await provider.submit(jobRequest(changes), signal);
  const [text] = bodies;
  return { provider, outcome, text, body: text === undefined ? undefined : (JSON.parse(text) as JsonObject) };
}

const everything = `{
  'all': input, 'negative': input.negativePrompt, 'steps': input.options.steps, 'size': $string(width) & 'x' & $string(height),
  'counts': [imageCount, videoCount, audioCount], 'frames': [hasFirstFrame, hasLastFrame],
  'account': accountHash, 'seconds': deadlineSeconds, 'key': jobKey, 'model': model,
  'images': [images.url], 'first': firstFrame.base64, 'last': lastFrame.url, 'videos': [videos.url], 'audios': [audios.base64]
}`;

describe('a request by a file', () => {
  const expected = {
    all: {
      prompt: 'a lighthouse',
      negativePrompt: 'fog',
      resolution: '1080p',
      duration: 5,
      ratio: '4:3',
      generateAudio: true,
      seed: 42,
      options: { steps: 30 },
    },
    negative: 'fog',
    steps: 30,
    size: '1668x1252',
    counts: [1, 1, 1],
    frames: [true, true],
    account: 'a1b2',
    seconds: 61,
    key: 'job-key',
    model: 'm',
  };
  const about = { accountHash: 'a1b2', deadlineMs: 60_001, jobKey: 'job-key', input: allFields };

  test('can have every field of the task, its media as data URLs, and no address that the client gave', async (t) => {
    const media = await allMedia(t);
    const { body, text = '' } = await sentBy(fileWith(everything), { ...about, media: async () => media });
    assert.deepEqual(body, {
      ...expected,
      images: [dataUrl('image/jpeg', contents.image)],
      first: Buffer.from(contents.firstFrame).toString('base64'),
      last: dataUrl('image/jpeg', contents.lastFrame),
      videos: [dataUrl('video/mp4', contents.video)],
      audios: [Buffer.from(contents.audio).toString('base64')],
    });
    for (const { url } of mediaUrlsOf(allFields)) assert.ok(!text.includes(url), url);
  });

  test('can have links to copies in our store', async (t) => {
    const media = await allMedia(t);
    const mediaLinks = {
      images: ['https://videogen.example/1'],
      firstFrame: 'https://videogen.example/2',
      lastFrame: 'https://videogen.example/3',
      videos: ['https://videogen.example/4'],
      audios: ['https://videogen.example/5'],
    };
    const json = everything.replaceAll('base64', 'url');
    const { body, provider } = await sentBy(fileWith(json, { images: 'link', clips: 'link' }), {
      ...about,
      media: async () => media,
      mediaLinks,
    });
    assert.deepEqual(body, {
      ...expected,
      images: mediaLinks.images,
      first: mediaLinks.firstFrame,
      last: mediaLinks.lastFrame,
      videos: mediaLinks.videos,
      audios: mediaLinks.audios,
    });
    assert.deepEqual([provider.images, provider.clips], ['link', 'link']);
  });

  test('has the shape of a last frame without another image when the ratio is adaptive', async (t) => {
    const { lastFrame } = await allMedia(t);
    const media = { ...noMedia, lastFrame: { ...lastFrame, widthPx: 720, heightPx: 1280 } };
    const input = withDefaults({ prompt: 'a fox', ratio: 'adaptive' });
    const { body } = await sentBy(fileWith("{ 'size': [width, height] }"), { input, media: async () => media });
    assert.deepEqual(body, { size: [720, 1280] });
  });

  test('counts no media of a task without any', async () => {
    const counts = "{ 'counts': [imageCount, videoCount, audioCount], 'frames': [hasFirstFrame, hasLastFrame] }";
    const { body } = await sentBy(fileWith(counts), {});
    assert.deepEqual(body, { counts: [0, 0, 0], frames: [false, false] });
  });

  test('has no prompt if the task has none', async () => {
    const json = "{ 'prompt': input.prompt, 'text': input.prompt & ' --wm false' }";
    const { body } = await sentBy(fileWith(json), { input: withDefaults({ prompt: '' }) });
    assert.deepEqual(body, { text: ' --wm false' });
  });

  test('requests no copies of clips that it does not pass on', async () => {
    const { provider } = await sentBy(fileWith("{ 'prompt': input.prompt }", { clips: 'link' }), {});
    assert.equal(provider.clips, 'file');
  });

  test('is not sent with clips that are too large, so that another provider may take the task', async (t) => {
    const media = await allMedia(t);
    const file = fileWith(everything, { maxClipBytes: 10_000 });
    const videos = Array.from({ length: 500 }, () => media.videos).flat();
    const { outcome, body } = await sentBy(file, { input: allFields, media: async () => ({ ...media, videos }) });
    assert.ok(outcome.kind === 'refused' && outcome.error.kind === 'input');
    assert.equal(body, undefined);
  });
});

describe('the fields that a file passes on', () => {
  const passed = (json: string) => fieldsPassedByFile(fileWith(json));
  const fieldsOf = (json: string) => [...passed(json).fields].toSorted();

  test('are all when its request reads all', () => {
    assert.deepEqual(fieldsOf(everything), inputFieldNames.toSorted());
    assert.deepEqual(fieldsOf("{ 'input': input }"), [
      'duration',
      'generateAudio',
      'negativePrompt',
      'options',
      'prompt',
      'ratio',
      'resolution',
      'seed',
    ]);
  });

  test('are those that it reads anywhere in an expression', () => {
    const json =
      "{ 'a': $string(input.duration), 'b': input.ratio = 'adaptive' ? images[0].url, 'c': $$.input.seed, 'd': width }";
    assert.deepEqual(fieldsOf(json), ['duration', 'imageUrls', 'ratio', 'resolution', 'seed']);
    assert.deepEqual(fieldsOf("{ 'prompt': body.prompt, 'seed': model }"), []);
    assert.deepEqual(
      [...fieldsPassedByFile(fileWith('{}', { create: { path: "'/' & input.ratio", json: '{}' } })).fields],
      ['ratio'],
    );
  });

  test('are the options by name, or all of them', () => {
    const named = passed("{ 'a': input.options.steps, 'b': input.options.style }");
    assert.deepEqual([readsOption(named, 'style'), readsOption(named, 'camera')], [true, false]);
    for (const json of ["{ 'a': input }", "{ 'a': input.options }", '$merge([input.options])'])
      assert.equal(readsOption(passed(json), 'camera'), true, json);
    assert.equal(passed("{ 'prompt': input.prompt }").fields.has('options'), false);
  });

  test('are none when the file cannot be read', () => {
    for (const data of [null, 1, {}, { create: null }, { create: { json: '{', path: 7 } }])
      assert.equal(fieldsPassedByFile(data).fields.size, 0);
  });
});
