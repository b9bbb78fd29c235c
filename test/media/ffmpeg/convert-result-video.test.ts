import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import type { ConversionBeforeStorage } from '../../../src/catalogue/media/conversion-before-storage.ts';
import { makeLastFrame } from '../../../src/media/ffmpeg/last-frame.ts';
import { createVideoNormalizer } from '../../../src/media/ffmpeg/convert-result-video.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// What ffmpeg does with a video of an upstream, which is 4 s of 1280 × 720 with sound here.

const { signal } = new AbortController();
const asIs: ConversionBeforeStorage = {
  audio: true,
  fit: 'keep',
  resolution: '720p',
  ratio: '16:9',
  lastFrame: false,
};

async function stage(t: TestContext) {
  const folder = await temporaryFolder(t);
  const { path: videoPath } = await copyInstantClip(folder);
  const targetPath = join(folder, 'target');
  const runs: Parameters<FfmpegRunner>[0][] = [];
  const ffmpeg: FfmpegRunner = (run) => {
    runs.push({ ...run, args: run.args.map((arg) => arg.replace(videoPath, 'VIDEO').replace(targetPath, 'TARGET')) });
    return Promise.reject(new Error('it was only asked'));
  };
  return { folder, videoPath, targetPath, runs, ffmpeg };
}

const input = [
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
  'VIDEO',
];
const output = [
  '-threads',
  '2',
  '-t',
  '600',
  '-fs',
  '1073741824',
  '-map_metadata',
  '-1',
  '-map_chapters',
  '-1',
  '-movflags',
  '+faststart',
  '-f',
  'mp4',
  'TARGET',
];
const picture = ['-map', '0:V:0'];
const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-bf', '0', '-pix_fmt', 'yuv420p'];

test('a video that is as it was ordered stays, and another one is converted as little as it takes', async (t) => {
  const { folder, videoPath, targetPath, runs, ffmpeg } = await stage(t);
  const normalize = createVideoNormalizer(ffmpeg);
  const run = (form: Partial<ConversionBeforeStorage>) =>
    normalize({ videoPath, targetPath, form: { ...asIs, ...form }, signal });
  for (const form of [{}, { fit: 'convert' }, { ratio: '9:16' }] as const) assert.equal(await run(form), videoPath);
  assert.deepEqual(runs, []);
  const upright = 'scale=720:1280:force_original_aspect_ratio=increase,crop=720:1280,setsar=1';
  for (const [form, args] of [
    [{ audio: false }, [...picture, '-an', '-c:v', 'copy', '-c:a', 'aac', '-b:a', '192k', '-ac', '2']],
    [
      { fit: 'convert', ratio: '9:16' },
      [...picture, '-map', '0:a:0?', '-vf', `scale=iw*sar:ih,setsar=1,${upright}`, ...encoder, '-c:a', 'copy'],
    ],
  ] as const) {
    await assert.rejects(run(form), /only asked/);
    assert.deepEqual(runs.pop(), {
      args: [...input, ...args, ...output],
      cwd: folder,
      signal,
      limitMs: 600_000,
    });
  }
});

test('the last frame is read from shortly before the last picture on', async (t) => {
  const { folder, videoPath, targetPath, runs, ffmpeg } = await stage(t);
  const size = { widthPx: 1280, heightPx: 720 };
  await assert.rejects(makeLastFrame(ffmpeg, videoPath, targetPath, { ...size, signal }), /only asked/);
  const filters = 'scale=1280:720:out_color_matrix=bt601,format=yuv420p,scale=out_range=pc';
  assert.deepEqual(runs, [
    {
      args: [
        '-ss',
        '3.858',
        ...input,
        '-an',
        '-threads',
        '2',
        '-vf',
        filters,
        '-pix_fmt',
        'yuvj420p',
        '-q:v',
        '2',
        '-f',
        'image2',
        '-update',
        '1',
        'TARGET',
      ],
      cwd: folder,
      signal,
      limitMs: 240_000,
    },
  ]);
});
