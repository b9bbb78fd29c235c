import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  imageSidePx,
  maxFrameRate,
  maxFetchedImageMegabytes,
  maxUploadMegabytes,
  formatsTextByKind,
  uploadMediaTypes,
} from '../../../src/media/references/upload-limits-and-addresses.ts';
import { inputFields } from '../../../src/catalogue/input/input-fields.ts';
import { maxUrlLength } from '../../../src/catalogue/input/url-schema-and-text-checks.ts';

// Pages for people state limits in words. Those of the reference are generated.

const sides = `${imageSidePx.min} to ${imageSidePx.max} px`;
const { image, video, audio } = maxUploadMegabytes;
const standardVideo = inputFields.videoUrls.bounds.parse({ max: 1 });
const standardAudio = inputFields.audioUrls.bounds.parse({ max: 1 });

/** The rows of a table as lists of cells. */
function rowsOf(page: string): readonly (readonly string[])[] {
  return page
    .split('\n')
    .flatMap((line) => (line.startsWith('| ') ? [line.split('|').map((cell) => cell.trim())] : []));
}

test('the table of media in the guide has the formats and limits of the code', () => {
  const page = readFileSync('docs/api.md', 'utf8');
  const rows: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
    rowsOf(page).map(([, name = '', ...cells]) => [name, cells.slice(0, -1)] as const),
  );
  const byModel = 'the limit of the model';
  assert.deepEqual(rows['image'], [
    formatsTextByKind.image,
    `at most ${image} MB`,
    `at most ${maxFetchedImageMegabytes} MB`,
    `a still; each side ${sides}`,
  ]);
  assert.deepEqual(rows['video'], [
    formatsTextByKind.video,
    `at most ${video} MB`,
    byModel,
    `the seconds and pixels of the model; ${maxFrameRate} frames a second`,
  ]);
  assert.deepEqual(rows['audio'], [
    formatsTextByKind.audio,
    `at most ${audio} MB`,
    byModel,
    'the seconds of the model',
  ]);
  assert.ok(page.includes(`of at most ${maxUrlLength} characters`));
  assert.ok(
    page.includes(`uploads of ${image} MB (images, ${sides} per side), ${video} MB (video) and ${audio} MB (audio)`),
  );
});

test('each format that the messages name has the media types that browsers give its files, and no other is accepted', () => {
  const byFormat: Readonly<Record<keyof typeof uploadMediaTypes, Readonly<Record<string, readonly string[]>>>> = {
    image: {
      JPEG: ['jpeg'],
      PNG: ['png'],
      WebP: ['webp'],
      HEIC: ['heic', 'heif'],
      AVIF: ['avif'],
      GIF: ['gif'],
      BMP: ['bmp'],
      TIFF: ['tiff'],
    },
    video: { MP4: ['mp4'], MOV: ['quicktime'], WebM: ['webm'], MKV: ['x-matroska'], AVI: ['x-msvideo'] },
    audio: {
      MP3: ['mpeg', 'mp3'],
      WAV: ['wav', 'x-wav', 'vnd.wave'],
      M4A: ['mp4', 'x-m4a'],
      AAC: ['aac'],
      Ogg: ['ogg', 'webm'],
      FLAC: ['flac', 'x-flac'],
      AIFF: ['aiff', 'x-aiff'],
    },
  };
  for (const kind of ['image', 'video', 'audio'] as const) {
    assert.deepEqual(formatsTextByKind[kind].split(/, | or /), Object.keys(byFormat[kind]));
    const types = Object.values(byFormat[kind]).flatMap((subtypes) => subtypes.map((subtype) => `${kind}/${subtype}`));
    assert.deepEqual(uploadMediaTypes[kind], types);
  }
});

test('the page about models has the limits of clips', () => {
  const page = readFileSync('docs/models.md', 'utf8');
  const { maxSeconds, maxMegabytes, maxPixels } = standardVideo;
  const ofVideos = `${maxSeconds} seconds, ${maxMegabytes} MB and ${maxPixels.toLocaleString('en-US')} pixels`;
  const ofAudio = `reference audio ${standardAudio.maxSeconds} seconds and ${standardAudio.maxMegabytes} MB`;
  for (const text of [ofVideos, ofAudio, `${maxFrameRate} frames a second`]) assert.ok(page.includes(text), text);
});
