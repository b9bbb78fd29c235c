import { dirname } from 'node:path';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import { jpegFilters, pictureLimitMs } from './poster.ts';
import { runVideoReader } from '../video/run-video-reader.ts';
import { ffmpegThreads, untrustedInputArguments } from './untrusted-input.ts';

/** ffmpeg counts from the start of the first stream, which may precede that of the pictures. */
const earlierSeconds = 0.1;

type LastFrameOptions = FrameSize & { readonly signal: AbortSignal };

/** Writes the last picture of a video as a JPEG of its size. Rejects with `FfmpegError` when it cannot be decoded there. */
export async function makeLastFrame(
  ffmpeg: FfmpegRunner,
  videoPath: string,
  framePath: string,
  { signal, ...size }: LastFrameOptions,
): Promise<void> {
  const atSeconds = Math.max(0, (await runVideoReader('lastPictureSeconds', videoPath, signal)) - earlierSeconds);
  await ffmpeg({
    // Each picture from there on replaces the one before.
    args: ['-ss', atSeconds.toFixed(3), ...untrustedInputArguments({ demuxer: 'mov', path: videoPath }), '-an']
      .concat(['-threads', `${ffmpegThreads}`, '-vf', jpegFilters(size), '-pix_fmt', 'yuvj420p'])
      .concat(['-q:v', '2', '-f', 'image2', '-update', '1'])
      .concat(framePath),
    cwd: dirname(framePath),
    signal,
    limitMs: pictureLimitMs,
  });
}
