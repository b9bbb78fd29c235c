import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type OverlayOptions } from 'sharp';
import { createFfmpeg } from '../../src/media/ffmpeg.ts';
import { createPreviewProvider } from '../../src/providers/preview/preview-provider.ts';
import { framesPerSecond } from '../../src/providers/preview/layers.ts';
import { createRandom } from '../../src/providers/preview/random.ts';
import { encoderArguments } from '../../src/providers/preview/render-film.ts';
import type { ReferenceImage } from '../../src/domain/ports.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showMs, times } from '../row.ts';
import { median } from '../statistics.ts';

/**
 * A film with sound beside ffmpeg's own test picture and tone: as many frames, the same size and encoder settings. A film of
 * photographs is more to encode than a test picture, whoever makes it, so it stands beside its own pictures, encoded again.
 */
export async function previewRow(folder: string, seconds: number, photographs: number): Promise<Row> {
  const images = await photosIn(folder, photographs);
  const made = await mkdtemp(join(folder, 'film-'));
  await film(made, seconds, images);
  const lengths = await interleaved({
    floor: () =>
      timed(folder, (workFolder) =>
        photographs === 0 ? testFilm(workFolder, seconds) : encodedAgain(workFolder, join(made, 'video.mp4')),
      ),
    test: () => (photographs === 0 ? Promise.resolve(0) : timed(folder, (to) => testFilm(to, seconds))),
    ours: () => timed(folder, (workFolder) => film(workFolder, seconds, images)),
  });
  const [floor, test, ours] = [median(lengths.floor), median(lengths.test), median(lengths.ours)];
  const ofPhotos = photographs === 0 ? '' : ` of ${photographs} photographs`;
  return {
    what: `preview render${ofPhotos}, ${seconds} s, 720p with audio`,
    floor:
      photographs === 0
        ? `ffmpeg, test source, same encoder settings: ${showMs(floor)}`
        : `ffmpeg, the same pictures again, same encoder settings: ${showMs(floor)} (test source: ${showMs(test)})`,
    measured: showMs(ours),
    ratio: times(ours / floor),
    target: '≤ 1.5 ×',
    isReached: ours / floor <= 1.5,
  };
}

/** Pictures with detail of every size, as photographs have it; the same in every run. */
async function photosIn(folder: string, count: number): Promise<readonly ReferenceImage[]> {
  const photos: ReferenceImage[] = [];
  for (let index = 0; index < count; index += 1) {
    const path = join(folder, `photo-${index}.jpg`);
    const layers = await Promise.all([6, 24, 96, 384].map((cells) => cellsLayer(cells, index)));
    const ground = sharp({ create: { ...photoSize, channels: 3, background: '#6a7f95' } });
    await ground.composite(layers).jpeg({ quality: 90 }).toFile(path);
    photos.push({ path, widthPx: photoSize.width, heightPx: photoSize.height });
  }
  return photos;
}

const photoSize = { width: 1600, height: 900 };

/** So many cells each way in random colours, soft and without borders; the finer, the fainter. */
async function cellsLayer(cells: number, seed: number): Promise<OverlayOptions> {
  const random = createRandom(`photo ${seed}`, `${cells}`);
  const alpha = Math.round(255 / (1 + cells / 48));
  const cell = () => [random(), random(), random()].map((part) => Math.round(255 * part)).concat(alpha);
  const pixels = Buffer.from(Array.from({ length: cells * cells }, cell).flat());
  const small = sharp(pixels, { raw: { width: cells, height: cells, channels: 4 } });
  return {
    input: await small
      .resize({ ...photoSize, fit: 'fill', kernel: 'cubic' })
      .png()
      .toBuffer(),
  };
}

async function timed(folder: string, work: (workFolder: string) => Promise<unknown>): Promise<number> {
  const workFolder = await mkdtemp(join(folder, 'render-'));
  const startedAt = performance.now();
  await work(workFolder);
  const tookMs = performance.now() - startedAt;
  await rm(workFolder, { recursive: true });
  return tookMs;
}

const ffmpeg = createFfmpeg();
const forever = new AbortController().signal;

async function film(workFolder: string, duration: number, images: readonly ReferenceImage[]): Promise<void> {
  const provider = createPreviewProvider({ ffmpeg, faults: false });
  const request = {
    taskId: 'bench',
    model: 'videogen-2.0-fast',
    input: {
      prompt: 'a paper boat on a rainy street',
      resolution: '720p',
      duration,
      ratio: '16:9',
      generateAudio: true,
      imageUrls: images.map((_, index) => `https://example.com/${index}.jpg`),
    },
    ordinal: 1,
    accountHash: '',
    jobKey: 'bench',
    deadlineMs: 1_800_000,
    images: () => Promise.resolve(images),
    imageLinks: [],
  } as const;
  await provider.run(request, () => {}, { workFolder, signal: forever });
}

function encodedAgain(workFolder: string, path: string): Promise<void> {
  const args = ['-i', path, '-filter_complex', '[0:v]null[film]', ...encoderArguments(true, 0), 'again.mp4'];
  return ffmpeg({ args, cwd: workFolder, signal: forever });
}

function testFilm(workFolder: string, seconds: number): Promise<void> {
  const picture = ['-f', 'lavfi', '-i', `testsrc2=size=1280x720:rate=${framesPerSecond}:duration=${seconds}`];
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${seconds}`];
  const args = [...picture, ...sound, '-filter_complex', '[0:v]null[film]', ...encoderArguments(true, 1), 'test.mp4'];
  return ffmpeg({ args, cwd: workFolder, signal: forever });
}
