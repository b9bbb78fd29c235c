import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { reencodeAnyImage } from '../../../src/media/pictures/reencode-any-image.ts';
import { codesOf, patches } from '../../corpus/hdr-film.ts';
import { heicOf } from '../../corpus/heic.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { plainImage } from '../../support/hostile/hostile-images.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// Images that are decoded in a process of its own keep their colors, and stand upright.

const ffmpeg = pinnedFfmpeg();
const size = { width: 400, height: 320 };
type Color = readonly number[];

const hex = (color: Color) => `0x${color.map((value) => Math.round(value).toString(16).padStart(2, '0')).join('')}`;

/** A frame of HEVC: the left half in one color, the right half in another one. */
async function frame(folder: string, left: Color, right = left): Promise<Buffer> {
  const half = (color: Color) => ['-f', 'lavfi', '-i', `color=${hex(color)}:size=200x320:rate=1`];
  const encoder = [
    '-pix_fmt',
    'yuv444p',
    '-c:v',
    'libx265',
    '-crf',
    '4',
    '-x265-params',
    'log-level=error:keyint=1:range=full:colormatrix=bt709',
  ];
  const graph = '[0][1]hstack,scale=out_color_matrix=bt709:out_range=pc,format=yuv444p';
  const args = [
    ...half(left),
    ...half(right),
    '-filter_complex',
    graph,
    '-frames:v',
    '1',
    ...encoder,
    '-tag:v',
    'hvc1',
    'frame.mp4',
  ];
  await ffmpeg({ args, cwd: folder, signal: AbortSignal.timeout(600_000) });
  return await readFile(join(folder, 'frame.mp4'));
}

async function converted(t: TestContext, bytes: Buffer) {
  const path = join(await temporaryFolder(t), 'image');
  await writeFile(path, bytes);
  const { jpeg, widthPx, heightPx } = await reencodeAnyImage(path, { maxMegabytes: 30 });
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true });
  const pixel = (x: number, y: number) => [...data.subarray((y * info.width + x) * 3).subarray(0, 3)];
  return { pixel, size: [widthPx, heightPx] };
}

function assertNear(actual: Color, expected: Color, tolerance = 8): void {
  const isNear = actual.length === 3 && actual.every((value, i) => Math.abs(value - (expected[i] ?? NaN)) <= tolerance);
  assert.ok(isNear, `${actual.join()} is not near ${expected.join()}`);
}

const [red, blue] = [
  [220, 30, 40],
  [20, 30, 220],
];

test('a HEIC keeps its colors', async (t) => {
  const image = await converted(t, heicOf(await frame(await temporaryFolder(t), red, blue), size));
  assert.deepEqual(image.size, [400, 320]);
  assertNear(image.pixel(100, 160), red);
  assertNear(image.pixel(300, 160), blue);
});

test('a HEIC is turned upright', async (t) => {
  const image = await converted(t, heicOf(await frame(await temporaryFolder(t), red, blue), { ...size, turns: 1 }));
  assert.deepEqual(image.size, [320, 400]);
  // Turned anticlockwise, the right half is at the top.
  assertNear(image.pixel(160, 100), blue);
  assertNear(image.pixel(160, 300), red);
});

test('a HEIC in Display P3 has the colors of a PNG in Display P3', async (t) => {
  const color = { r: 200, g: 120, b: 80 };
  const codes = [color.r, color.g, color.b];
  const profile = (await sharp(await plainImage(300, 300).withIccProfile('p3').png().toBuffer()).metadata()).icc;
  assert.ok(profile);
  const image = await converted(t, heicOf(await frame(await temporaryFolder(t), codes), { ...size, profile }));
  // By the matrices of the two standards.
  assertNear(image.pixel(200, 160), [212, 115, 70], 4);
});

for (const [curve, transfer] of [
  ['pq', 16],
  ['hlg', 18],
] as const)
  test(`a HEIC in ${curve} becomes sRGB`, async (t) => {
    for (const color of patches.slice(0, 3)) {
      const codes = codesOf(color, curve).map((value) => value * 255);
      const image = await converted(
        t,
        heicOf(await frame(await temporaryFolder(t), codes), { ...size, colors: [9, transfer] }),
      );
      // The codes have 8 bits here.
      assertNear(image.pixel(200, 160), color, 20);
    }
  });

for (const format of ['bgr24', 'bgra', 'rgb565le', 'rgb8', 'pal8', 'gray', 'monob'])
  test(`a BMP of ${format} has the pixels that ffmpeg reads`, async (t) => {
    const folder = await temporaryFolder(t);
    const run = (args: readonly string[]) =>
      ffmpeg({ args: [...args], cwd: folder, signal: AbortSignal.timeout(600_000) });
    await run([
      '-f',
      'lavfi',
      '-i',
      'testsrc=size=401x323:rate=1',
      '-frames:v',
      '1',
      '-pix_fmt',
      format,
      '-f',
      'image2',
      'a.bmp',
    ]);
    await run(['-i', 'a.bmp', '-frames:v', '1', '-pix_fmt', 'rgb24', '-f', 'image2', 'a.png']);
    const expected = await sharp(await readFile(join(folder, 'a.png')))
      .raw()
      .toBuffer();
    const image = await converted(t, await readFile(join(folder, 'a.bmp')));
    assert.deepEqual(image.size, [401, 323]);
    // These pixels are not at edges, which JPEG blurs.
    for (const [x, y] of [
      [20, 100],
      [200, 30],
      [390, 310],
      [10, 315],
    ] as const)
      assertNear(image.pixel(x, y), [...expected.subarray((y * 401 + x) * 3).subarray(0, 3)], 40);
  });
