import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { readJsonAndSaveVideo } from '../../../src/providers/cog/save-video-of-json.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const video = Buffer.from(Array.from({ length: 2_000 }, (_, index) => (index * 7) % 256));
const image = `data:image/png;base64,${Buffer.alloc(500, 'i').toString('base64')}`;
const text = 'ü "data:video/mp4;base64,AAAA" in a log';

function answerWith(output: unknown): string {
  return JSON.stringify({ input: { image }, logs: text, output, status: 'succeeded' });
}

describe('an answer with a video in base64', () => {
  const url = `data:video/mp4;base64,${video.toString('base64')}`;
  for (const size of [1, 7, 1_000, 100_000]) {
    for (const spelled of [answerWith([image, url, url]), answerWith(url).replaceAll('/', '\\/')]) {
      test(`in chunks of ${size} bytes leaves the video in the file and the rest in memory: ${spelled.length}`, async (t) => {
        const folder = await temporaryFolder(t);
        const bytes = Buffer.from(spelled);
        const count = Math.ceil(bytes.length / size);
        const chunks = Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
        const kept = await readJsonAndSaveVideo(Readable.from(chunks), join(folder, 'video'));
        assert.deepEqual(await readFile(join(folder, 'video')), video);
        const empty = 'data:video/mp4;base64,';
        const { output, ...others } = JSON.parse(kept.toString()) as Readonly<Record<string, unknown>>; // JSON before
        assert.deepEqual(output, Array.isArray(output) ? ['data:image/png;base64,', empty, empty] : empty);
        assert.deepEqual(others, { input: { image: 'data:image/png;base64,' }, logs: text, status: 'succeeded' });
      });
    }
  }
});

test('an answer may have 16 MiB beside its video', async (t) => {
  const path = join(await temporaryFolder(t), 'video');
  // The end of a chunk waits for the next one, because a data URL may begin in it.
  const whole = Buffer.alloc(16 * 1024 * 1024 + 200, 'x');
  assert.equal((await readJsonAndSaveVideo(Readable.from([whole]), path)).length, whole.length);
  const larger = Readable.from([Buffer.concat([whole, Buffer.from('x')])]);
  await assert.rejects(readJsonAndSaveVideo(larger, path), { name: 'OutboundError', kind: 'too_large' });
});
