import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { generateCubeFile, convertColorToSdr } from '../../../src/media/ffmpeg/hdr.ts';
import { sharp } from '../../../src/media/pictures/restricted-sharp.ts';
import { createVideoInspector } from '../../../src/media/video/inspect-and-make-poster.ts';
import { createVideoNormalizer } from '../../../src/media/ffmpeg/convert-result-video.ts';
import { runVideoReader } from '../../../src/media/video/run-video-reader.ts';
import { fetchReferenceClips } from '../../../src/media/references/fetch-reference-clips.ts';
import { makeHdrFilm, patches, patchPx } from '../../corpus/hdr-film.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ffmpeg = pinnedFfmpeg();
const signal = new AbortController().signal;
const films = { 'pq.mp4': ['pq', 'hevc'], 'hlg.mp4': ['hlg', 'hevc'], 'hlg-8-bits.mp4': ['hlg', 'avc'] } as const;
type Film = keyof typeof films;
const made = new Map<Film, Buffer>();

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hdr-'));
  for (const [name, [curve, codec]] of Object.entries(films)) {
    await makeHdrFilm(ffmpeg, folder, { name, curve, codec, frames: 3 });
    made.set(name as Film, await readFile(join(folder, name)));
  }
  await rm(folder, { recursive: true });
});

/** The codec changes values slightly. */
const tolerance = 8;
/** Values of 8 bits in BT.709. White leaves room for what is brighter. */
const shown = patches.map((color) => (Math.min(...color) === 255 ? [252, 252, 252] : color));

async function assertPatches(picture: Buffer, what: string): Promise<void> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const scale = info.width / (patchPx * patches.length);
  for (const [index, expected] of shown.entries()) {
    const at = (Math.floor(info.height / 2) * info.width + Math.floor((index + 0.5) * patchPx * scale)) * info.channels;
    const found = [...data.subarray(at, at + 3)];
    const isNear = found.every((value, channel) => Math.abs(value - (expected[channel] ?? NaN)) <= tolerance);
    assert.ok(isNear, `${what}: ${found.join()} is not near ${expected.join()}`);
  }
}

async function assertSdr(path: string): Promise<void> {
  const streams = await runVideoReader('streams', path);
  assert.deepEqual([streams?.wideColors, streams?.isPlayable], [undefined, true]);
  const bytes = await readFile(path);
  const tags = bytes.indexOf('colrnclx', 0, 'latin1');
  assert.notEqual(tags, -1, 'the file names its colors');
  // Primaries, transfer and matrix of BT.709.
  assert.deepEqual(
    [0, 2, 4].map((offset) => bytes.readUInt16BE(tags + 8 + offset)),
    [1, 1, 1],
  );
  for (const box of ['mdcv', 'clli', 'dvvC']) assert.ok(!bytes.includes(box), box);
}

async function frameOf(path: string, folder: string): Promise<Buffer> {
  const args = [
    '-i',
    path,
    '-frames:v',
    '1',
    '-vf',
    'scale=out_color_matrix=bt601:out_range=pc',
    '-f',
    'image2',
    'frame.png',
  ];
  await ffmpeg({ args, cwd: folder, signal });
  return await readFile(join(folder, 'frame.png'));
}

for (const name of Object.keys(films) as Film[]) {
  test(`a result in ${name} becomes BT.709, and so do its poster and its last frame`, async (t) => {
    const folder = await temporaryFolder(t);
    const [videoPath, targetPath] = [join(folder, 'video'), join(folder, 'converted.mp4')];
    const [posterPath, lastFramePath] = [join(folder, 'poster.jpg'), join(folder, 'last.jpg')];
    await writeFile(videoPath, made.get(name) ?? assert.fail());
    const form = { audio: true, fit: 'keep', resolution: '720p', ratio: 'adaptive', lastFrame: true } as const;
    const path = await createVideoNormalizer(ffmpeg)({ videoPath, targetPath, form, signal });
    assert.equal(path, targetPath);
    await assertSdr(path);
    await createVideoInspector(ffmpeg)({
      videoPath: path,
      deliveredPoster: undefined,
      posterPath,
      lastFramePath,
      signal,
    });
    await assertPatches(await frameOf(path, folder), 'video');
    await assertPatches(await readFile(posterPath), 'poster');
    await assertPatches(await readFile(lastFramePath), 'last frame');
  });

  test(`a reference in ${name} becomes BT.709`, async (t) => {
    const folder = await temporaryFolder(t);
    const readUpload = async (_url: string, path: string) => {
      await writeFile(path, made.get(name) ?? assert.fail());
      return true;
    };
    const client = { download: () => assert.fail('nothing is downloaded') };
    const limits = { maxMegabytes: 10, maxSeconds: 5, maxPixels: 100_000 };
    const sources = [{ url: 'http://media.test/upload', path: 'input.videoUrls[0]' }];
    const settings = { ffmpeg, folder, signal, client, readUpload };
    const [reference] = await fetchReferenceClips({ ...settings, kind: 'video', limits, sources });
    assert.ok(reference);
    await assertSdr(reference.path);
    await assertPatches(await frameOf(reference.path, folder), 'reference');
  });
}

const colors = { curve: 'hlg', gamut: 'bt2020', needsMatrix: false } as const;

test('brighter light stays brighter up to the peak, gray stays gray, and black stays black', () => {
  for (const curve of ['pq', 'hlg'] as const) {
    const ramp = Array.from({ length: 101 }, (_, index) =>
      convertColorToSdr({ ...colors, curve }, [index / 100, index / 100, index / 100]),
    );
    for (const [index, [red, green, blue]] of ramp.entries()) {
      assert.ok(Math.abs(red - green) < 0.001 && Math.abs(red - blue) < 0.001, `${curve} ${index}`);
      assert.ok(red > (ramp[index - 1]?.[0] ?? 0) - 0.0001 && red <= 1, `${curve} ${index}: ${red}`);
    }
    assert.equal(ramp[0]?.[0], 0);
    assert.ok((ramp.at(-1)?.[0] ?? 0) > 0.9999, curve);
  }
});

test('the table between its points differs from the formula by less than a step of 8 bits', () => {
  const lines = [...generateCubeFile(colors)].join('').trim().split('\n').slice(1);
  assert.equal(lines.length, 64 ** 3);
  const at = (index: number) => Number(lines[index * (1 + 64 + 64 * 64)]?.split(' ')[0]);
  for (let index = 6; index < 63; index += 1) {
    const middle = (index + 0.5) / 63;
    const exact = convertColorToSdr(colors, [middle, middle, middle])[0];
    assert.ok(Math.abs((at(index) + at(index + 1)) / 2 - exact) < 1 / 255, String(middle));
  }
});
