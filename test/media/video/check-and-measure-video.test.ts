import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import { VideoFileError } from '../../../src/media/video/video-file-error.ts';
import { videoOfPictures } from '../boxes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const picture = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30:duration=2'];
const sound = ['-f', 'lavfi', '-i', 'sine=duration=2'];

async function encode(cwd: string, ...args: string[]): Promise<string> {
  await pinnedFfmpeg()({ args: [...args, 'made.mp4'], cwd, signal: new AbortController().signal });
  return join(cwd, 'made.mp4');
}

test('a video is measured from its packets and bytes', async (t) => {
  const path = await encode(await temporaryFolder(t), ...picture, ...sound, '-pix_fmt', 'yuv420p');
  const file = await readFile(path);
  const sha256 = createHash('sha256').update(file).digest('hex');
  const size = { widthPx: 320, heightPx: 180, durationSeconds: 2, framesPerSecond: 30 };
  assert.deepEqual(await checkAndMeasureVideo(path), { ...size, hasAudio: true, bytes: file.length, sha256 });
});

test('a video without sound says so', async (t) => {
  assert.equal((await checkAndMeasureVideo(await encode(await temporaryFolder(t), ...picture))).hasAudio, false);
});

test('a file that was cut short anywhere is refused', async (t) => {
  for (const flags of [[], ['-movflags', '+faststart']]) {
    const path = await encode(await temporaryFolder(t), ...picture, ...sound, ...flags);
    const file = await readFile(path);
    for (const share of runsWholeMatrix ? [0.001, 0.1, 0.5, 0.9, 0.999] : [0.001, 0.5, 0.999]) {
      await writeFile(path, file.subarray(0, Math.floor(file.length * share)));
      await assert.rejects(checkAndMeasureVideo(path), VideoFileError, `${share} of the file was taken for a video`);
    }
  }
});

test('a hole in the picture, or text in its place, is found wherever it lies', async (t) => {
  const path = await encode(await temporaryFolder(t), ...picture, '-pix_fmt', 'yuv420p');
  const file = await readFile(path);
  const from = file.indexOf('mdat', 0, 'latin1') + 4;
  const bytes = file.indexOf('moov', from, 'latin1') - 4 - from;
  assert.ok(bytes > 20_000, 'the pictures come before the index');
  const shares = [0.02, 0.4, 0.9];
  for (const [index, filling] of ['\0', '<p>502 Bad Gateway</p>', '\xff'].entries()) {
    for (const share of runsWholeMatrix ? shares : shares.slice(index, index + 1)) {
      const changed = Buffer.from(file);
      changed.fill(filling, from + Math.floor(bytes * share), from + Math.floor(bytes * (share + 0.1)), 'latin1');
      await writeFile(path, changed);
      await assert.rejects(
        checkAndMeasureVideo(path),
        VideoFileError,
        `${JSON.stringify(filling)} at ${share} of the pictures`,
      );
    }
  }
});

test('a kilobyte that describes billions of pictures is refused, and this process lives', async (t) => {
  const path = join(await temporaryFolder(t), 'crafted.mp4');
  const crafted = videoOfPictures(0xff_ff_ff_ff);
  assert.ok(crafted.length < 1024);
  await writeFile(path, crafted);
  await assert.rejects(checkAndMeasureVideo(path), (error) => {
    assert.ok(error instanceof VideoFileError, String(error));
    assert.match(error.message, /within the limits of its reader: .*heap out of memory/s);
    return true;
  });
  // The next file has a reader of its own.
  await writeFile(path, videoOfPictures(1));
  assert.equal((await checkAndMeasureVideo(path)).widthPx, 64);
});

test('what is no H.264 video is refused with the reason', async (t) => {
  const folder = await temporaryFolder(t);
  await assert.rejects(checkAndMeasureVideo(await encode(folder, ...picture, '-c:v', 'mpeg4')), VideoFileError);
  await assert.rejects(checkAndMeasureVideo(await encode(folder, ...sound)), /no picture/);
  const text = join(folder, 'text.mp4');
  for (const content of ['', 'not a video', 'x'.repeat(100_000)]) {
    await writeFile(text, content);
    await assert.rejects(checkAndMeasureVideo(text), VideoFileError);
  }
});
