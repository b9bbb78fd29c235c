import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MediaByRole, mediaRoles, noMedia } from '../../../src/catalogue/media/media-by-role.ts';

const all: Required<MediaByRole<string>> = { images: [], firstFrame: '', lastFrame: '', videos: [], audios: [] };

test('every role of reference media is listed, and a task without media has an empty list for each role of many', () => {
  assert.deepEqual([...mediaRoles], Object.keys(all));
  assert.deepEqual(noMedia, { images: [], videos: [], audios: [] });
});
