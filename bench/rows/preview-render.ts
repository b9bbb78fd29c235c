import { noMedia } from '../../src/tasks/ports.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createFfmpeg } from '../../src/media/ffmpeg.ts';
import { createPreviewProvider } from '../../src/providers/preview/preview-provider.ts';
import { framesPerSecond } from '../../src/providers/preview/layers.ts';
import { encoderArguments } from '../../src/providers/preview/render-film.ts';
import type { Bench, Rows } from '../bench.ts';
import { benchFfmpeg } from '../machine.ts';
import { interleaved } from '../rounds.ts';
import { showMs, times } from '../row.ts';
import { median } from '../statistics.ts';

/**
 * Measures films with sound beside ffmpeg's own test picture and tone, with the
 * same number of frames, size and encoder settings.
 */
export async function* previewRows({ folder }: Bench): Rows {
  for (const seconds of [5, 15]) {
    const lengths = await interleaved({
      floor: () => timed(folder, (workFolder) => testFilm(workFolder, seconds)),
      ours: () => timed(folder, (workFolder) => film(workFolder, seconds)),
    });
    const [floor, ours] = [median(lengths.floor), median(lengths.ours)];
    yield {
      what: `preview render, ${seconds} s, 720p with audio`,
      floor: `ffmpeg, test source, same encoder settings: ${showMs(floor)}`,
      measured: showMs(ours),
      ratio: times(ours / floor),
      target: '≤ 1.5 ×',
      isReached: ours / floor <= 1.5,
    };
  }
}

async function timed(folder: string, work: (workFolder: string) => Promise<unknown>): Promise<number> {
  const workFolder = await mkdtemp(join(folder, 'render-'));
  const startedAt = performance.now();
  await work(workFolder);
  const tookMs = performance.now() - startedAt;
  await rm(workFolder, { recursive: true });
  return tookMs;
}

const ffmpeg = createFfmpeg({ path: await benchFfmpeg() });
const forever = new AbortController().signal;

async function film(workFolder: string, duration: number): Promise<void> {
  const provider = createPreviewProvider({ ffmpeg, failures: false });
  const request = {
    taskId: 'bench',
    model: 'videogen-2.0-fast',
    input: {
      prompt: 'a paper boat on a rainy street',
      resolution: '720p',
      duration,
      ratio: '16:9',
      generateAudio: true,
      imageUrls: [],
    },
    ordinal: 1,
    accountHash: '',
    jobKey: 'bench',
    deadlineMs: 1_800_000,
    media: () => Promise.resolve(noMedia),
    mediaLinks: noMedia,
  } as const;
  await provider.run(request, () => {}, { workFolder, signal: forever, onStarted: () => {} });
}

function testFilm(workFolder: string, seconds: number): Promise<void> {
  const picture = ['-f', 'lavfi', '-i', `testsrc2=size=1280x720:rate=${framesPerSecond}:duration=${seconds}`];
  const sound = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${seconds}`];
  const args = [...picture, ...sound, '-filter_complex', '[0:v]null[film]', ...encoderArguments(true, 1), 'test.mp4'];
  return ffmpeg({ args, cwd: workFolder, signal: forever });
}
