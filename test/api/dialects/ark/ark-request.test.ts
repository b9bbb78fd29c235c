import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataUrl } from '../data-url.ts';
import { image, text, useArk } from './ark-dialect-stage.ts';

const { client } = useArk();

const picture = 'https://client.example/a.png';
const second = 'https://client.example/b.png';
const video = { type: 'video_url', video_url: { url: 'https://client.example/v.mp4' }, role: 'reference_video' };
const audio = { type: 'audio_url', audio_url: { url: 'https://client.example/a.mp3' } };

/** A request, and the input of the task that it creates besides the prompt. */
const requests: Readonly<Record<string, readonly [body: object, input: object]>> = {
  'words alone, with the ratio that is the default of Ark': [
    {},
    { ratio: 'adaptive', duration: 5, resolution: '720p' },
  ],
  'every field': [
    { ratio: '9:16', resolution: '4k', duration: 7, generate_audio: false, seed: 11, camera_fixed: true },
    { ratio: '9:16', resolution: '2160p', duration: 7, generateAudio: false, seed: 11, options: { cameraFixed: true } },
  ],
  'short options in the text': [
    { content: [text('a --lighthouse --rt 1:1 --dur 6 --rs 720p --seed 3 --cf true --wm false')] },
    { prompt: 'a --lighthouse', ratio: '1:1', duration: 6, seed: 3, options: { cameraFixed: true } },
  ],
  'long options in the text, before the words': [
    {
      content: [text('--ratio 1:1 --duration 6 --resolution 720p --camerafixed false --watermark false a lighthouse')],
    },
    { ratio: '1:1', duration: 6, options: { cameraFixed: false } },
  ],
  'an option in the text that the fields repeat': [
    { content: [text('a lighthouse --dur 6')], duration: 6 },
    { duration: 6 },
  ],
  'one image without a role, which is the first frame': [
    { content: [text('a lighthouse'), image(picture)] },
    { firstFrameUrl: picture },
  ],
  'one image without words, for a model that needs none': [
    { model: 'wordless', content: [image(picture)] },
    { prompt: '', firstFrameUrl: picture },
  ],
  'both frames': [
    { content: [text('a lighthouse'), image(second, 'last_frame'), image(picture, 'first_frame')] },
    { firstFrameUrl: picture, lastFrameUrl: second },
  ],
  'reference images, videos and audio': [
    {
      content: [
        text('a lighthouse'),
        image(second, 'reference_image'),
        image(picture, 'reference_image'),
        video,
        audio,
      ],
    },
    { imageUrls: [second, picture], videoUrls: [video.video_url.url], audioUrls: [audio.audio_url.url] },
  ],
  'null for every field that was left out, as the BytePlus SDK sends it': [
    {
      ratio: null,
      seed: null,
      camera_fixed: null,
      callback_url: null,
      safety_identifier: null,
      frames: null,
      tools: null,
    },
    {},
  ],
  'words alone, as chat APIs send them': [{ content: 'a lighthouse' }, {}],
  'words in several items, each a line': [
    { content: ['a lighthouse', text('at night')] },
    { prompt: 'a lighthouse\nat night' },
  ],
  'null for what an item leaves out': [
    { content: [{ text: 'a lighthouse', image_url: null, video_url: null, audio_url: null, role: null }] },
    {},
  ],
  'a command without a value before another one, and one within a word': [
    { content: [text('a fox--dur 6 --dur --seed 3')] },
    { prompt: 'a fox--dur 6 --dur', duration: 5, seed: 3 },
  ],
  'a fraction and a zero in the text': [
    { content: [text('a lighthouse --dur 5.4 --seed 0')] },
    { duration: 5, seed: 0 },
  ],
  'numbers and booleans as text': [
    {
      seed: '3',
      generate_audio: 'false',
      watermark: 'false',
      draft: 'false',
      framespersecond: '24',
      return_last_frame: 'true',
    },
    { seed: 3, generateAudio: false, options: { returnLastFrame: true } },
  ],
  'an option by our name beside one by that of Ark': [
    { options: { returnLastFrame: true }, camera_fixed: true },
    { options: { returnLastFrame: true, cameraFixed: true } },
  ],
  'fifty items, and an end user of 128 characters': [
    { content: Array.from({ length: 50 }, () => text('a')), safety_identifier: 'u'.repeat(128) },
    { prompt: Array.from({ length: 50 }, () => 'a').join('\n') },
  ],
  'an image whose address is no object, and items without a type': [
    { content: [{ text: 'a lighthouse' }, { image_url: picture }] },
    { firstFrameUrl: picture, ratio: 'adaptive' },
  ],
  'the names of commands as fields': [
    { dur: '6', rt: '9:16', cf: 'true', fps: 24 },
    { duration: 6, ratio: '9:16' },
  ],
  'the last frame of a model that stores it': [{ model: 'frames', return_last_frame: true, camerafixed: false }, {}],
  'no last frame of a model that stores it': [{ model: 'frames', return_last_frame: false }, {}],
  'fields that ask for nothing': [
    {
      watermark: false,
      draft: false,
      service_tier: 'default',
      return_last_frame: false,
      execution_expires_after: 3600,
    },
    { options: { returnLastFrame: false } },
  ],
};

for (const [what, [body, input]] of Object.entries(requests)) {
  test(`200 ${what}`, async () => {
    const { created, native } = await client();
    const { param } = await native(await created(body));
    const { input: stored } = param as { readonly input: Readonly<Record<string, unknown>> }; // a record
    const expected: object = { prompt: 'a lighthouse', ...input };
    const named = Object.fromEntries(Object.keys(expected).map((name) => [name, stored[name]]));
    assert.deepEqual(named, expected);
  });
}

test('200 a seed of -1 is a random one, which the task shows', async () => {
  const { created, get } = await client();
  const seeds = [];
  for (const _ of [1, 2]) seeds.push((await get(await created({ seed: -1 }))).body['seed']);
  assert.ok(seeds.every((seed) => Number.isInteger(seed)));
  assert.notEqual(seeds[0], seeds[1]);
});

test('200 a data URL becomes an upload, and the same one is stored once', async () => {
  const { created, native } = await client();
  const content = [text('a lighthouse'), image(await dataUrl(), 'reference_image')];
  const addresses = [];
  for (const _ of [1, 2]) {
    const { param } = await native(await created({ content }));
    addresses.push(...(param as { input: { imageUrls: readonly string[] } }).input.imageUrls); // a record
  }
  assert.match(addresses[0] ?? '', /^http:\/\/media\.test\/media\/uploads\/[0-9a-f-]{36}\/image\.jpg$/);
  assert.equal(addresses[0], addresses[1]);
});

/** A request, and the field and the words of its refusal, in the client's spelling. */
const refusals: Readonly<Record<string, readonly [body: object, param: string, message: RegExp]>> = {
  'an unknown model': [{ model: 'seedence' }, 'model', /must be one of doubao-seedance-2-0-260128, /],
  'no content': [{ content: undefined }, 'content', /is required/],
  'no words': [{ content: [image(picture)] }, 'content.text', /is required/],
  'an automatic duration': [{ duration: -1 }, 'duration', /must be 4 to 15 seconds/],
  'an automatic duration in the text': [{ content: [text('a --dur -1')] }, 'duration', /must be 4 to 15 seconds/],
  'a number with a leading zero': [{ content: [text('a --dur 05')] }, 'duration', /must be/],
  'a ratio in the text': [{ content: [text('a --ratio 2:1')] }, 'ratio', /must be one of adaptive, 16:9/],
  'a resolution': [{ resolution: '1080p' }, 'resolution', /must be one of 720p, 2160p/],
  'a field that contradicts the text': [
    { content: [text('a --dur 5')], duration: 6 },
    'duration',
    /given with two values/,
  ],
  'a watermark': [{ watermark: true }, 'watermark', /leave it out or send false/],
  'a watermark in the text': [{ content: [text('a --wm true')] }, 'watermark', /leave it out or send false/],
  'a fixed camera of a model without it': [
    { model: 'plain', camera_fixed: true },
    'camera_fixed',
    /leave it out or send false/,
  ],
  'an option with a value that it cannot have': [{ camera_fixed: 1 }, 'camera_fixed', /must be true or false/],
  'cheaper processing': [{ service_tier: 'flex' }, 'service_tier', /leave it out or send "default"/],
  'a seed of a model without it': [{ model: 'plain', seed: 1 }, 'seed', /is not supported/],
  'frames instead of seconds': [{ frames: 57 }, 'frames', /is not supported by this model; leave it out$/],
  'a frame rate in the text': [{ content: [text('a --fps 30')] }, 'framespersecond', /leave it out or send 24$/],
  'a frame rate': [{ fps: 30 }, 'fps', /leave it out or send 24$/],
  'a misspelled field': [{ rasolution: '720p' }, 'rasolution', /unknown field, did you mean resolution\?$/],
  'another spelling of a ratio': [{ ratio: '16x9' }, 'ratio', /did you mean 16:9\?$/],
  'a resolution in capitals': [{ resolution: '720P' }, 'resolution', /did you mean 720p\?$/],
  'a space after the name of a model': [{ model: 'seedance ' }, 'model', /did you mean seedance\?$/],
  'an image by another name': [
    { content: [{ type: 'image', image_url: picture }] },
    'content[0].type',
    /did you mean image_url\?$/,
  ],
  'an item that is a number': [{ content: [5] }, 'content[0]', /must be like \{"type": "image_url"/],
  'an image without words': [{ content: [image(picture)] }, 'content.text', /is required$/],
  'neither words nor an image, for a model that needs either': [
    { model: 'wordless', content: [] },
    'content.text',
    /is required without an image for wordless$/,
  ],
  'words of spaces without an image': [
    { model: 'wordless', content: [text('  ')] },
    'content.text',
    /is required without an image for wordless$/,
  ],
  'a first frame of a model without it': [
    { model: 'plain', content: [text('a'), image(picture)] },
    'content[1].image_url.url',
    /is not supported/,
  ],
  'several images without roles': [
    { content: [text('a'), image(picture), image(second)] },
    'content[1].role',
    /must be first_frame, last_frame, reference_image/,
  ],
  'two first frames': [
    { content: [text('a'), image(picture, 'first_frame'), image(second, 'first_frame')] },
    'content[2].role',
    /each frame given once/,
  ],
  'a last frame alone': [
    { content: [text('a'), image(picture, 'last_frame')] },
    'content',
    /first_frame is required together with last_frame/,
  ],
  'a frame and a reference': [
    { content: [text('a'), image(picture, 'first_frame'), image(second, 'reference_image')] },
    'content[1].image_url.url',
    /together|cannot/,
  ],
  'a role of another type': [
    { content: [text('a'), { ...video, role: 'first_frame' }] },
    'content[1].role',
    /reference_video/,
  ],
  'an asset of Ark': [
    { content: [text('a'), image('asset://1', 'reference_image')] },
    'content[1].image_url.url',
    /http/,
  ],
  'an asset of Ark in an item whose address is no object': [
    { content: [text('a'), { image_url: 'asset://1' }] },
    'content[1].image_url',
    /http/,
  ],
  'an asset of Ark beside another image': [
    { content: [text('a'), image(picture, 'reference_image'), image('asset://1', 'reference_image')] },
    'content[2].image_url.url',
    /http/,
  ],
  'an item without its words': [{ content: [text('a'), { type: 'text' }] }, 'content[1].text', /is required/],
  'an item without a type that has two fields': [
    { content: [{ text: 'a', image_url: picture }] },
    'content[0].type',
    /is required/,
  ],
  'more than fifty items': [{ content: Array.from({ length: 51 }, () => text('a')) }, 'content', /at most 50 items/],
  'the name of a command as a field': [{ dur: 99 }, 'dur', /must be 4 to 15 seconds/],
  'the last frame of a model that does not store it': [
    { model: 'plain', return_last_frame: true },
    'return_last_frame',
    /leave it out or send false/,
  ],
  'an item without its URL': [{ content: [text('a'), { type: 'image_url' }] }, 'content[1].image_url', /is required/],
  'an item of another type': [
    { content: [{ type: 'draft_task' }] },
    'content[0].type',
    /must be text or a kind of URL/,
  ],
  'an invalid data URL': [
    { content: [text('a'), image('data:image/png,x', 'reference_image')] },
    'content[1].image_url.url',
    /data URL in base64/,
  ],
  'an invalid address for the callback': [{ callback_url: 'ftp://x' }, 'callback_url', /http/],
  'a long end user': [{ safety_identifier: 'u'.repeat(129) }, 'safety_identifier', /128/],
  'an end user of several lines': [{ safety_identifier: 'a\nb' }, 'safety_identifier', /plain text/],
};

for (const [what, [body, param, message]] of Object.entries(refusals)) {
  test(`422 ${what}`, async () => {
    const { create, balance } = await client();
    const { status, body: refused } = await create({ model: 'seedance', content: [text('a lighthouse')], ...body });
    const { error } = refused as { readonly error: Readonly<Record<string, string>> }; // Ark's form
    assert.deepEqual([status, error['code'], error['type']], [422, 'invalid_request', 'UnprocessableEntity']);
    assert.equal(error['param'], param, JSON.stringify(error));
    assert.match(String(error['message']), message);
    assert.equal(await balance(), 10_000);
  });
}
