import assert from 'node:assert/strict';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { carryManifest } from '../../../src/media/video/carry-manifest.ts';
import { maxIndexBytes } from '../../../src/media/video/mp4-boxes.ts';
import { VideoFileError } from '../../../src/media/video/video-file-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { box } from '../boxes.ts';

// test/media/video/label-as-generated.test.ts carries manifests into conversions.

const start = box('ftyp', Buffer.from('isom\0\0\x02\0isommp42'));

/** Writes a conversion whose index has so many bytes, most of which are zero and not on disk. */
async function conversion(t: TestContext, indexBytes: number): Promise<string> {
  const path = join(await temporaryFolder(t), 'conversion.mp4');
  const index = box('moov');
  index.writeUInt32BE(indexBytes);
  await writeFile(path, Buffer.concat([start, index]));
  await truncate(path, start.length + indexBytes);
  return path;
}

for (const [what, manifestBytes, indexBytes, limit] of [
  ['a manifest', 16 * 1024 * 1024 + 1, 8, 16 * 1024 * 1024],
  ['an index', 8, maxIndexBytes + 1, maxIndexBytes],
] as const)
  test(`${what} of more bytes than memory is kept for is not carried`, async (t) => {
    const path = await conversion(t, indexBytes);
    await assert.rejects(
      carryManifest(path, { type: 'uuid', at: 0, from: 8, to: manifestBytes }, path),
      (error) => error instanceof VideoFileError && error.message.endsWith(` has more than ${limit} bytes`),
    );
  });
