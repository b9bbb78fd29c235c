import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { isJpegPngOrWebp, sharp } from '../pictures/restricted-sharp.ts';
import { ffmpegThreads, untrustedInputArguments } from './untrusted-input.ts';

/** After the opening fade and before the end, where a film most often shows its subject. */
const posterAt = 0.4;

/** A JPEG has the colors of BT.601 in their full range; ffmpeg 4.1 cannot change both in one step. */
export function jpegFilters({ widthPx, heightPx }: FrameSize): string {
  return `scale=${widthPx}:${heightPx}:out_color_matrix=bt601,format=yuv420p,scale=out_range=pc`;
}

/** In pixels, of the longer side: sharp where a page shows a film, and two thirds of the bytes of 720p. Lists show 30 posters at a time. */
const maxSide = 960;

/** The size of a video's poster: its shape, never larger than itself. */
export function calculatePosterSize({ widthPx, heightPx }: FrameSize): FrameSize {
  const scale = Math.min(1, maxSide / Math.max(widthPx, heightPx));
  const side = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { widthPx: side(widthPx), heightPx: side(heightPx) };
}

/**
 * One picture takes a few seconds. The limit is below the time after which ffmpeg counts as stalled, so that a video without a picture
 * there takes too long, and is refused after some attempts.
 */
export const pictureLimitMs = 4 * 60_000;

type PosterOptions = FrameSize & { readonly durationSeconds: number; readonly signal: AbortSignal };

/** Writes the picture at 40 % of a video of this size as a JPEG. Rejects with `FfmpegError` when it cannot be decoded there. */
export async function makePoster(
  ffmpeg: FfmpegRunner,
  videoPath: string,
  posterPath: string,
  { durationSeconds, signal, ...video }: PosterOptions,
): Promise<void> {
  const atSeconds = (durationSeconds * posterAt).toFixed(3);
  await ffmpeg({
    // Seeking before the input decodes from the nearest key frame only, without the frames that no other one needs, which halves the
    // cost and takes a neighbor at worst; `-update 1` writes a single picture.
    args: ['-skip_frame', 'noref', '-ss', atSeconds, ...untrustedInputArguments({ demuxer: 'mov', path: videoPath })]
      .concat(['-frames:v', '1', '-an', '-threads', `${ffmpegThreads}`])
      .concat(['-vf', jpegFilters(calculatePosterSize(video)), '-pix_fmt', 'yuvj420p', '-q:v', '4'])
      .concat(['-f', 'image2', '-update', '1'])
      .concat(posterPath),
    cwd: dirname(posterPath),
    signal,
    limitMs: pictureLimitMs,
  });
}

/** Every browser shows these color spaces of a JPEG, but not CMYK. */
const webColors: readonly string[] = ['srgb', 'b-w'];
const endOfImage = 0xff_d9;

/** True for a whole JPEG of the size of this video's poster. It is not decoded, which would cost almost as much as making one. */
export async function isPosterSizedJpeg(path: string, video: FrameSize): Promise<boolean> {
  const { widthPx, heightPx } = calculatePosterSize(video);
  const bytes = await readFile(path);
  if (!isJpegPngOrWebp(bytes) || bytes.readUInt16BE(bytes.length - 2) !== endOfImage) return false;
  const header = await sharp(bytes, { limitInputPixels: false })
    .metadata()
    .catch(() => undefined);
  if (header?.format !== 'jpeg' || !webColors.includes(header.space)) return false;
  // A picture with a rotation is shown in another size.
  return header.width === widthPx && header.height === heightPx && (header.orientation ?? 1) === 1;
}
