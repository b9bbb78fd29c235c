import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reencodeJpegPngOrWebp } from '../../../src/media/pictures/reencode-jpeg-png-webp.ts';
import { ImageRefusedError } from '../../../src/media/pictures/image-refused-error.ts';
import { noise } from '../../support/hostile/hostile-images.ts';

/** As many at a time as keep any machine busy for longer than the limit of a second. */
const decodes = 24;

test('an image that a busy machine does not decode in time is not refused for it, so it may be tried again', async () => {
  const large = await noise(6000, 6000).jpeg({ quality: 95 }).toBuffer();
  const outcomes = await Promise.allSettled(Array.from({ length: decodes }, () => reencodeJpegPngOrWebp(large, 1)));
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  assert.ok(errors.length > 0, 'some were not decoded within a second');
  for (const error of errors) {
    assert.ok(!(error instanceof ImageRefusedError), String(error));
    assert.match(String(error), /not decoded within 1 s/);
  }
});
