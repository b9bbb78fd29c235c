import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isUploadPreviewUrl,
  maxUploadBytesOfKind,
  uploadFromUrl,
  uploadIdsOf,
  kindByStoredName,
  uploadUrl,
} from '../../../src/media/references/upload-limits-and-addresses.ts';

const publicUrl = 'https://videogen.example';
const uploadId = '0193a5b0-7c1e-7000-8000-000000000001';
const upload = { uploadId, fileName: 'video.mp4' } as const;
const url = `${publicUrl}/media/uploads/${uploadId}/video.mp4`;

/** Addresses that name no upload of ours. */
const others = [
  'https://other.example/media/uploads/0193a5b0-7c1e-7000-8000-000000000001/video.mp4',
  `${publicUrl}/media/uploads/${uploadId}/video.exe`,
  `${publicUrl}/media/uploads/${uploadId}/constructor.mp4`,
  `${publicUrl}/media/results/${uploadId}/video.mp4`,
  `${publicUrl}/media/uploads/1/video.mp4`,
  `${url}#x`,
  `${url}?x`,
  ` ${url}`,
];

test('the address of an uploaded file names it, in one spelling alone', () => {
  assert.equal(uploadUrl(publicUrl, upload), url);
  assert.deepEqual(uploadFromUrl(publicUrl, url), upload);
  for (const other of others) assert.equal(uploadFromUrl(publicUrl, other), undefined, other);
  const media = [{ url: others[0] ?? '' }, { url }, { url }];
  assert.deepEqual(uploadIdsOf(publicUrl, media), [uploadId, uploadId]);
});

test('a signed link is an address with a query, and is not taken for the file itself', () => {
  assert.equal(isUploadPreviewUrl(publicUrl, `${url}?expires=1&signature=x`), true);
  for (const other of [url, ...others.slice(0, 5).map((one) => `${one}?expires=1`)])
    assert.equal(isUploadPreviewUrl(publicUrl, other), false, other);
});

test('each name of an uploaded file has the kind that it begins with, and its own limit of bytes', () => {
  const endings = { image: ['jpg'], video: ['mp4', 'mov', 'webm', 'mkv', 'avi'] };
  const audio = ['mp3', 'wav', 'm4a', 'aac', 'ogg', 'webm', 'mka', 'flac', 'aiff'];
  const names = Object.entries({ ...endings, audio }).flatMap(([kind, all]) =>
    all.map((ending) => [`${kind}.${ending}`, kind]),
  );
  assert.deepEqual(kindByStoredName, Object.fromEntries(names));
  assert.deepEqual(
    (['image', 'video', 'audio'] as const).map((kind) => maxUploadBytesOfKind(kind)),
    [10_485_760, 104_857_600, 31_457_280],
  );
});
