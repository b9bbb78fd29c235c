import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inputFields } from '../../../src/catalogue/input/input-fields.ts';

const context = { refuseMediaUrl: (url: string) => (url.includes('refused') ? 'is refused' : undefined) };
const url = 'https://media.example/a';
const { prompt, negativePrompt, resolution, generateAudio, firstFrameUrl, videoUrls, seed } = inputFields;

const clips = videoUrls.bounds.parse({ max: 1 });

const cases = [
  [
    'prompt',
    prompt.request({ maxCharacters: 2 }, context),
    ['ab', '🐈🐈'],
    ['', ' \u200b', 'abc', 'a\0', null, undefined],
  ],
  [
    'optional prompt',
    prompt.request({ maxCharacters: 2, required: false }, context),
    ['', ' ', 'ab', null, undefined],
    ['abc', 'a\0', 1],
  ],
  [
    'negativePrompt',
    negativePrompt.request({ maxCharacters: 2 }, context),
    ['', 'ab', null, undefined],
    ['abc', '\ud800', 1],
  ],
  [
    'resolution',
    resolution.request({ values: ['480p', '720p'] }, context),
    ['480p', '720p', null, undefined],
    ['1080p', '720P', 720],
  ],
  ['generateAudio', generateAudio.request({}, context), [true, false, null, undefined], ['true', 1]],
  [
    'generateAudio that is fixed',
    generateAudio.request({ fixed: false }, context),
    [false, null, undefined],
    [true, 0],
  ],
  ['firstFrameUrl', firstFrameUrl.request({}, context), [url, null, undefined], [`${url}?refused`, 'a.png', [url]]],
  ['required firstFrameUrl', firstFrameUrl.request({ required: true }, context), [url], [null, undefined]],
  ['videoUrls', videoUrls.request(clips, context), [[], [url], null, undefined], [[url, url], [`${url}?refused`], url]],
  ['seed', seed.request({ max: 9 }, context), [0, 9, null, undefined], [-1, 10, 1.5, '1']],
] as const;

for (const [name, schema, taken, refused] of cases) {
  test(`the field ${name} takes what its model sells only`, () => {
    for (const value of taken) assert.deepEqual(schema.safeParse(value), { success: true, data: value });
    for (const value of refused) assert.ok(!schema.safeParse(value).success, JSON.stringify(value));
  });
}

test('a field that is left out has the default of its model', () => {
  assert.deepEqual(
    [
      prompt.standardValue?.({ maxCharacters: 2 }),
      prompt.standardValue?.({ maxCharacters: 2, required: false }),
      ...[{}, { default: false }, { fixed: false }, { fixed: true }].map((bounds) =>
        generateAudio.standardValue?.(bounds),
      ),
    ],
    [undefined, '', true, false, false, true],
  );
});

test('a model that sells clips has the usual limits of them', () => {
  const limits = { min: 0, max: 1, maxSeconds: 60 };
  assert.deepEqual(clips, { ...limits, maxMegabytes: 100, maxPixels: 3840 * 2160 });
  assert.deepEqual(inputFields.audioUrls.bounds.parse({ max: 1 }), { ...limits, maxMegabytes: 30 });
});
