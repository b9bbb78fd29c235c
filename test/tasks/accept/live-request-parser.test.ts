import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { uploadUrl } from '../../../src/media/references/upload-limits-and-addresses.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createLiveRequestParser } from '../../../src/tasks/accept/parse-task-request.ts';

test('requests are parsed by the catalogue in force: its models, and what their upstreams take', () => {
  const catalogueOf = (model: string, durations: readonly number[]) => {
    const one = { model, title: 'M', prices: [{ creditsPerSecond: 1 }], rules: { durations } };
    return readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ models: [one] }) });
  };
  let catalogue = catalogueOf('a', [5, 10]);
  const none = parseAllowList('');
  const parse = createLiveRequestParser(
    { imageAllow: none, callbackAllow: none, publicUrl: 'http://127.0.0.1:4600' },
    () => catalogue,
  );
  const asked = (model: string, duration: number) => {
    const parsed = parse({ model, input: { prompt: 'A boat', duration } });
    return parsed.ok ? 'taken' : parsed.errors.map(({ path, message }) => `${path}: ${message}`);
  };
  assert.equal(asked('a', 10), 'taken');
  assert.deepEqual(asked('a', 6), ['input.duration: must be one of 5, 10 seconds for a']);
  catalogue = catalogueOf('b', [6]);
  assert.equal(asked('b', 6), 'taken');
  assert.deepEqual(asked('a', 10), ['model: must be one of b']);
});

test('the address of an uploaded image passes although it is our own, and no other address of ours does', () => {
  const publicUrl = 'http://127.0.0.1:4600';
  const none = parseAllowList('');
  const one = { model: 'a', title: 'A', prices: [{ creditsPerSecond: 1 }] };
  const catalogue = readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ models: [one] }) });
  const parse = createLiveRequestParser({ imageAllow: none, callbackAllow: none, publicUrl }, () => catalogue);
  const id = '01a20547-5b77-41a5-a669-baf552d62195';
  const isTaken = (url: string) => parse({ model: 'a', input: { prompt: 'A boat', imageUrls: [url] } }).ok;
  assert.ok(isTaken(uploadUrl(publicUrl, { uploadId: id, fileName: 'image.jpg' })));
  for (const url of [
    '/',
    '/api/v1/credits',
    `/media/results/${id}/poster.jpg`,
    `/media/uploads/${id}/image.jpg?x=1`,
    `/media/uploads/${id}/../${id}/image.jpg`,
    `/media/uploads/${id.toUpperCase()}/image.jpg`,
    `/media/uploads/${id}/image.png`,
    `/media/uploads/${id}/video.mp3`,
    '@10.0.0.1/',
  ]) {
    assert.ok(!isTaken(publicUrl + url), url);
  }
  assert.ok(!isTaken(uploadUrl('http://127.0.0.1:46000', { uploadId: id, fileName: 'image.jpg' })));
});

test('the previewUrl of an upload, which expires, is refused by name', () => {
  const publicUrl = 'https://videos.example.com';
  const none = parseAllowList('');
  const one = { model: 'a', title: 'A', prices: [{ creditsPerSecond: 1 }] };
  const catalogue = readCatalogueOrThrow({ path: 'x', readText: () => JSON.stringify({ models: [one] }) });
  const parse = createLiveRequestParser({ imageAllow: none, callbackAllow: none, publicUrl }, () => catalogue);
  const uploadId = '01a20547-5b77-41a5-a669-baf552d62195';
  const imageUrl = uploadUrl(publicUrl, { uploadId, fileName: 'image.jpg' });
  const imageUrls = [imageUrl, `${imageUrl}?expires=1790000000&signature=abc`];
  assert.deepEqual(parse({ model: 'a', input: { prompt: 'A boat', imageUrls } }), {
    ok: false,
    errors: [{ path: 'input.imageUrls[1]', message: 'is the previewUrl of an upload, which expires; give its url' }],
  });
});
