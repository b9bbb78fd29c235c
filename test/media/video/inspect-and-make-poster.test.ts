import assert from 'node:assert/strict';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import { FfmpegError } from '../../../src/media/ffmpeg/ffmpeg.ts';
import { checkAndMeasureVideo } from '../../../src/media/video/check-and-measure-video.ts';
import {
  withVideoErrorsAsTaskErrors,
  createVideoInspector,
  measureVideoIfPosterFits,
} from '../../../src/media/video/inspect-and-make-poster.ts';
import { VideoFileError } from '../../../src/media/video/video-file-error.ts';
import { isPosterSizedJpeg } from '../../../src/media/ffmpeg/poster.ts';
import { copyInstantClip } from '../../../src/providers/preview/preview-provider.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';

const never: FfmpegRunner = async () => assert.fail('no poster was to be made');
const signal = new AbortController().signal;
const clipSize = { widthPx: 1280, heightPx: 720 };

test('a good poster that came with the video is kept: nothing is decoded, nothing written', async (t) => {
  const folder = await temporaryFolder(t);
  const { path: videoPath, posterPath: deliveredPoster } = await copyInstantClip(folder);
  const made = join(folder, 'made.jpg');
  const order = { videoPath, deliveredPoster, posterPath: made, signal };
  const { measured, isPosterMade } = await createVideoInspector(never)(order);
  assert.equal(isPosterMade, false);
  assert.deepEqual([measured.widthPx, measured.heightPx, measured.durationSeconds], [1280, 720, 4]);
  await assert.rejects(access(made), { code: 'ENOENT' });
});

test('without a poster, or with a bad one, it is made from the video, and the bad one stays as it was', async (t) => {
  const folder = await temporaryFolder(t);
  const { path: videoPath, posterPath: deliveredPoster } = await copyInstantClip(folder);
  await writeFile(deliveredPoster, 'not found');
  const inspect = createVideoInspector(pinnedFfmpeg());
  for (const delivered of [undefined, deliveredPoster]) {
    const posterPath = join(folder, delivered === undefined ? 'without.jpg' : 'with.jpg');
    const order = { videoPath, deliveredPoster: delivered, posterPath, signal };
    assert.equal((await inspect(order)).isPosterMade, true);
    assert.equal(await isPosterSizedJpeg(posterPath, clipSize), true);
  }
  assert.equal(await readFile(deliveredPoster, 'utf8'), 'not found');
});

test('an ffmpeg that could not be started is no fault of the video', async (t) => {
  const folder = await temporaryFolder(t);
  const { path: videoPath } = await copyInstantClip(folder);
  const failure = { exitCode: null, killedBy: null, stalled: false, timedOut: false, stderr: '' };
  const unavailable: FfmpegRunner = () => Promise.reject(new FfmpegError(failure));
  const order = { videoPath, deliveredPoster: undefined, posterPath: join(folder, 'made.jpg'), signal };
  await assert.rejects(createVideoInspector(unavailable)(order), { name: 'FfmpegError' });
});

test('only an error that the file caused ends the task; any other may be retried', async () => {
  const failure = { exitCode: 1, killedBy: null, stalled: false, timedOut: false, stderr: 'Invalid data' };
  const tooMuch = Object.assign(new Error('too much'), { code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' });
  for (const [error, isFault] of [
    [new VideoFileError('the index is damaged'), true],
    [new FfmpegError(failure), true],
    [new FfmpegError({ ...failure, exitCode: null, killedBy: 'SIGTERM', cause: tooMuch }), true],
    [new FfmpegError({ ...failure, exitCode: null, killedBy: 'SIGKILL' }), false],
    [new FfmpegError({ ...failure, stalled: true }), false],
    [new FfmpegError({ ...failure, stderr: 'x.jpg: No space left on device' }), false],
    [new FfmpegError({ ...failure, stderr: 'x.jpg: Disk quota exceeded' }), false],
    [new FfmpegError({ ...failure, stderr: 'x.jpg: Read-only file system' }), false],
    [new Error('EMFILE'), false],
  ] as const) {
    const thrown = await withVideoErrorsAsTaskErrors(() => Promise.reject(error)).catch((seen: unknown) => seen);
    if (!isFault) assert.equal(thrown, error);
    else assert.ok(thrown instanceof TaskError && thrown.failCode === 'result_invalid' && thrown.cause === error);
  }
  assert.equal(await withVideoErrorsAsTaskErrors(async () => 'measured'), 'measured');
});

test('a poster does not make a video of what is none', async (t) => {
  const folder = await temporaryFolder(t);
  const { path: videoPath, posterPath: deliveredPoster } = await copyInstantClip(folder);
  await writeFile(videoPath, 'nothing of the kind');
  const order = { videoPath, deliveredPoster, posterPath: join(folder, 'made.jpg'), signal };
  await assert.rejects(createVideoInspector(never)(order), (error) => {
    return error instanceof TaskError && error.failCode === 'result_invalid' && !error.retryable;
  });
});

test('a video is measured with its poster where that may stay, and with no other one', async (t) => {
  const folder = await temporaryFolder(t);
  const { path, posterPath } = await copyInstantClip(folder);
  assert.deepEqual(await measureVideoIfPosterFits(path, posterPath), await checkAndMeasureVideo(path));
  await writeFile(posterPath, 'not found');
  assert.equal(await measureVideoIfPosterFits(path, posterPath), undefined);
});
