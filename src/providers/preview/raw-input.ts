import type { FrameSize } from '../../domain/frame-size.ts';

/** ffmpeg's arguments for an input of bare pixels at the film's rate; nothing is left for it to guess. */
export function rawInput(pixelFormat: string, { widthPx, heightPx }: FrameSize, source: string): string[] {
  const size = `${widthPx}x${heightPx}`;
  return ['-f', 'rawvideo', '-pixel_format', pixelFormat, '-video_size', size, '-framerate', '24', '-i', source];
}
