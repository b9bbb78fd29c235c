import { dirname } from 'node:path';
import { EncodedPacketSink, FilePathSource, Input, MP4, QTFF } from 'mediabunny';
import type { Ffmpeg } from '../tasks/ports.ts';
import type { FrameSize } from './frame-size.ts';
import { jpegFilters } from './poster.ts';

/** ffmpeg counts from the start of the first stream, which may precede that of the pictures. */
const earlierSeconds = 0.1;

type LastFrameOptions = FrameSize & { readonly signal: AbortSignal };

/** Writes the last picture of a video as a JPEG of its size. Rejects with `FfmpegError` when it cannot be decoded there. */
export async function makeLastFrame(
  ffmpeg: Ffmpeg,
  videoPath: string,
  framePath: string,
  { signal, ...size }: LastFrameOptions,
): Promise<void> {
  const atSeconds = Math.max(0, (await lastPictureSeconds(videoPath)) - earlierSeconds);
  await ffmpeg({
    // Each picture from there on replaces the one before.
    args: ['-ss', atSeconds.toFixed(3), '-i', videoPath, '-an', '-vf', jpegFilters(size), '-pix_fmt', 'yuvj420p']
      .concat(['-q:v', '2', '-f', 'image2', '-update', '1'])
      .concat(framePath),
    cwd: dirname(framePath),
    signal,
  });
}

/** Returns the time of the last picture after the first one; the length of the file may be that of its sound. */
async function lastPictureSeconds(path: string): Promise<number> {
  const input = new Input({ formats: [MP4, QTFF], source: new FilePathSource(path) });
  try {
    const video = await input.getPrimaryVideoTrack();
    if (video === null) return 0;
    const sink = new EncodedPacketSink(video);
    const [first, last] = [await sink.getFirstPacket(), await sink.getPacket(Infinity, { metadataOnly: true })];
    return (last?.timestamp ?? 0) - (first?.timestamp ?? 0);
  } finally {
    input.dispose();
  }
}
