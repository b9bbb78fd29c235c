import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeImage, ImageRefusal } from '../../src/media/image-decode.ts';
import { noise } from '../support/hostile-images.ts';

test('an image that a busy machine does not decode in time is not refused for it, so it may be tried again', async () => {
  const large = await noise(6000, 6000).jpeg({ quality: 95 }).toBuffer();
  await assert.rejects(
    decodeImage(large, 1),
    (error) => !(error instanceof ImageRefusal) && /not decoded within 1 s/.test(String(error)),
  );
});
