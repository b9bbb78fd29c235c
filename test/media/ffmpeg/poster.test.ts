import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import type { FrameSize } from '../../../src/catalogue/media/frame-size.ts';
import { FfmpegError } from '../../../src/media/ffmpeg/ffmpeg.ts';
import { isPosterSizedJpeg, makePoster, calculatePosterSize } from '../../../src/media/ffmpeg/poster.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const ffmpeg = pinnedFfmpeg();
const { signal } = new AbortController();
const small = { widthPx: 320, heightPx: 180 };

test('the poster of a small video is a JPEG of its size, taken at 40 % of it', async (t) => {
  const cwd = await temporaryFolder(t);
  // Black for the first second and the last two, white in between: the poster can only be white at 40 % of 5 s.
  const light = "geq=lum='255*between(T,1,3)':cb=128:cr=128";
  const args = ['-f', 'lavfi', '-i', `color=size=320x180:rate=24:duration=5,format=yuv420p,${light}`, 'film.mp4'];
  await ffmpeg({
    args,
    cwd,
    signal,
  });
  const poster = join(cwd, 'poster.jpg');
  await makePoster(ffmpeg, join(cwd, 'film.mp4'), poster, { durationSeconds: 5, ...small, signal });
  const image = sharp(await readFile(poster));
  const { format, width, height } = await image.metadata();
  assert.deepEqual([format, width, height], ['jpeg', 320, 180]);
  assert.ok(((await image.stats()).channels[0]?.mean ?? 0) > 240);
});

test('the poster of a larger video keeps its shape, with a longer side of 960 pixels', async (t) => {
  const cwd = await temporaryFolder(t);
  const poster = join(cwd, 'poster.jpg');
  const shapes: readonly (readonly [FrameSize, FrameSize])[] = [
    [
      { widthPx: 1280, heightPx: 720 },
      { widthPx: 960, heightPx: 540 },
    ],
    [
      { widthPx: 1080, heightPx: 1920 },
      { widthPx: 540, heightPx: 960 },
    ],
    [
      { widthPx: 1470, heightPx: 630 },
      { widthPx: 960, heightPx: 411 },
    ],
    [
      { widthPx: 4096, heightPx: 2 },
      { widthPx: 960, heightPx: 1 },
    ],
  ];
  for (const [video, wanted] of shapes) {
    assert.deepEqual(calculatePosterSize(video), wanted);
    const source = `color=size=${video.widthPx}x${video.heightPx}:rate=24:duration=1`;
    await ffmpeg({ args: ['-f', 'lavfi', '-i', source, '-pix_fmt', 'yuv420p', 'film.mp4'], cwd, signal });
    await makePoster(ffmpeg, join(cwd, 'film.mp4'), poster, { durationSeconds: 1, ...video, signal });
    const { width, height } = await sharp(await readFile(poster)).metadata();
    assert.deepEqual({ widthPx: width, heightPx: height }, wanted);
    assert.equal(await isPosterSizedJpeg(poster, video), true);
  }
});

test('the poster shows the colours that the video shows', async (t) => {
  const cwd = await temporaryFolder(t);
  const poster = join(cwd, 'poster.jpg');
  await ffmpeg({
    args: ['-f', 'lavfi', '-i', 'color=c=0x20a040:size=320x180:rate=24:duration=1']
      .concat(['-vf', 'scale=out_color_matrix=bt709,format=yuv420p', '-colorspace', 'bt709'])
      .concat(['-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv', 'film.mp4']),
    cwd,
    signal,
  });
  await makePoster(ffmpeg, join(cwd, 'film.mp4'), poster, { durationSeconds: 1, ...small, signal });
  const { channels } = await sharp(await readFile(poster)).stats();
  for (const [i, wanted] of [0x20, 0xa0, 0x40].entries()) {
    const found = channels[i]?.mean ?? Number.NaN;
    assert.ok(Math.abs(found - wanted) < 6, `channel ${i} is ${found}, not ${wanted}`);
  }
});

test('a poster is one picture of the file alone, within bounds of memory and time', async () => {
  const runs: Parameters<FfmpegRunner>[0][] = [];
  const asked: FfmpegRunner = async (run) => void runs.push(run);
  await makePoster(asked, '/v/film.mp4', '/w/poster.jpg', { durationSeconds: 10, ...small, signal });
  const filters = 'scale=320:180:out_color_matrix=bt601,format=yuv420p,scale=out_range=pc';
  assert.deepEqual(runs, [
    {
      args: [
        '-skip_frame',
        'noref',
        '-ss',
        '4.000',
        '-threads',
        '2',
        '-max_alloc',
        '536870912',
        '-max_pixels',
        '33554432',
        '-enable_drefs',
        '0',
        '-f',
        'mov',
        '-i',
        '/v/film.mp4',
        '-frames:v',
        '1',
        '-an',
        '-threads',
        '2',
        '-vf',
        filters,
        '-pix_fmt',
        'yuvj420p',
        '-q:v',
        '4',
        '-f',
        'image2',
        '-update',
        '1',
        '/w/poster.jpg',
      ],
      cwd: '/w',
      signal,
      limitMs: 240_000,
    },
  ]);
});

test('a file that cannot be decoded gives no poster', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'film.mp4'), 'nothing of the kind');
  const made = makePoster(ffmpeg, join(cwd, 'film.mp4'), join(cwd, 'poster.jpg'), {
    durationSeconds: 5,
    ...small,
    signal,
  });
  await assert.rejects(made, FfmpegError);
});

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"></svg>';
const size = { widthPx: 640, heightPx: 360 };
const picture = () => sharp({ create: { width: 640, height: 360, channels: 3, background: '#336699' } });

async function isPoster(folder: string, bytes: Buffer): Promise<boolean> {
  const path = join(folder, 'poster.jpg');
  await writeFile(path, bytes);
  return isPosterSizedJpeg(path, size);
}

test('a whole JPEG of the size of its poster is a poster of a video', async (t) => {
  const folder = await temporaryFolder(t);
  assert.equal(await isPoster(folder, await picture().jpeg().toBuffer()), true);
  assert.equal(await isPoster(folder, await picture().jpeg({ progressive: true }).toBuffer()), true);
  assert.equal(await isPoster(folder, await picture().toColourspace('b-w').jpeg().toBuffer()), true);
});

test('another size, another format, a cut-off file, a turned picture, printing colours and no picture at all are not', async (t) => {
  const folder = await temporaryFolder(t);
  const whole = await picture().jpeg().toBuffer();
  const others = {
    'one pixel narrower': await picture().resize(639, 360).jpeg().toBuffer(),
    'upright instead of wide': await picture().rotate(90).jpeg().toBuffer(),
    'turned by a tag': await picture().withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    'four printing colours': await picture().toColourspace('cmyk').jpeg().toBuffer(),
    png: await picture().png().toBuffer(),
    webp: await picture().webp().toBuffer(),
    'cut off': whole.subarray(0, whole.length - 1),
    'half of it': whole.subarray(0, whole.length / 2),
    'its end alone': whole.subarray(-2),
    'a page': Buffer.from('<html>no such picture</html>'),
    'a page with the end of a JPEG': Buffer.concat([Buffer.from('<html>'), whole.subarray(-2)]),
    'an SVG with the end of a JPEG': Buffer.concat([Buffer.from(svg), whole.subarray(-2)]),
    nothing: Buffer.alloc(0),
  };
  for (const [what, bytes] of Object.entries(others)) assert.equal(await isPoster(folder, bytes), false, what);
});
