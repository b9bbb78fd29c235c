import type { ConversionBeforeStorage } from '../../catalogue/media/conversion-before-storage.ts';
import { stat, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { type FrameSize, frameSize } from '../../catalogue/media/frame-size.ts';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { containerOf } from '../../platform/outbound/body/media-container.ts';
import { carryManifest } from '../video/carry-manifest.ts';
import { generateCubeFile, sdrFilters, sdrTags, type WideColors } from './hdr.ts';
import { withVideoErrorsAsTaskErrors } from '../video/inspect-and-make-poster.ts';
import { runVideoReader } from '../video/run-video-reader.ts';
import { ffmpegThreads, untrustedInputArguments } from './untrusted-input.ts';
import { VideoFileError } from '../video/video-file-error.ts';
import { type VideoLayout, videoLayoutOf } from '../video/mp4-top-level-boxes.ts';
import type { ReaderFunctions } from '../video/video-reader-functions.ts';

type Normalisation = {
  readonly videoPath: string;
  /** The path of a new file, if one is needed. */
  readonly targetPath: string;
  readonly form: ConversionBeforeStorage;
  readonly signal: AbortSignal;
};

export type VideoNormalizer = ReturnType<typeof createVideoNormalizer>;

/** The limit of a download, too. ffmpeg ends without an error when it has written that much. */
const defaultMostBytes = 1024 ** 3;
/** Longer videos are cut. No model sells a video that is nearly as long, and a small file can hold days of one picture. */
const mostSeconds = 600;
/** One run of ffmpeg; below the time limit of `storeResult`, which includes the wait for a free core and the store. */
const limitMs = 10 * 60_000;
/** The least share of the claimed length. A file that was cut short decodes without an error up to the cut. */
const leastShare = 0.9;

/**
 * Makes an MP4 with H.264 and AAC, its index first, of what an upstream delivered, and returns its path: that of the video itself when it
 * is one already, of the requested size and with the requested sound. The C2PA manifest of the video is carried over. An invalid file is a
 * `TaskError`, `result_invalid`.
 */
export function createVideoNormalizer(ffmpeg: FfmpegRunner, mostBytes = defaultMostBytes) {
  const limited = pLimit(Math.ceil(availableParallelism() / ffmpegThreads));
  return ({ videoPath, targetPath, form, signal }: Normalisation): Promise<string> =>
    withVideoErrorsAsTaskErrors(async () => {
      const demuxer = await containerOf(videoPath);
      if (demuxer === undefined) throw new VideoFileError('the file is in no known container');
      const layout = demuxer === 'mov' ? await videoLayoutOf(videoPath) : undefined;
      const found = await runVideoReader('streams', videoPath, signal);
      const plan = planOf(found, form);
      if (found?.isMp4 === true && plan.isCopy && mayStay(layout)) return videoPath;
      const input = untrustedInputArguments({ demuxer, path: videoPath });
      const limits = ['-threads', `${ffmpegThreads}`, '-t', `${mostSeconds}`, '-fs', `${mostBytes}`];
      // An upstream's notes, such as the prompt and the graph that made the video, are not for the client.
      const output = ['-map_metadata', '-1', '-map_chapters', '-1', '-movflags', '+faststart', '-f', 'mp4', targetPath];
      const args = [...input, ...plan.args, ...limits, ...output];
      if (plan.wideColors !== undefined)
        await writeFile(join(dirname(targetPath), cubeName), generateCubeFile(plan.wideColors));
      await limited(() => ffmpeg({ args, cwd: dirname(targetPath), signal, limitMs }));
      await requireWhole({ path: targetPath, mostBytes, claimedSeconds: found?.durationSeconds ?? 0, signal });
      if (layout?.manifest !== undefined) await carryManifest(videoPath, layout.manifest, targetPath);
      return targetPath;
    });
}

type Streams = NonNullable<Awaited<ReturnType<ReaderFunctions['streams']>>>;

/** `isCopy` when picture and sound stay as they are. */
function planOf(found: Streams | undefined, form: ConversionBeforeStorage) {
  const size = form.fit === 'convert' ? frameSize(form.resolution, form.ratio, found) : undefined;
  const fits = size === undefined || (found?.widthPx === size.widthPx && found.heightPx === size.heightPx);
  // Players differ in how they show HDR, and its poster would have pale colors.
  const wideColors = found?.wideColors;
  const keepsPicture = found?.isPlayable === true && fits && wideColors === undefined;
  const keepsSound = found !== undefined && (found.audio === undefined || (found.audio === 'aac' && form.audio));
  const picture = keepsPicture ? ['-c:v', 'copy'] : encodedPicture(size, wideColors);
  const sound = keepsSound ? ['-c:a', 'copy'] : ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'];
  const streams = ['-map', '0:V:0', ...(form.audio ? ['-map', '0:a:0?'] : ['-an'])];
  return { isCopy: keepsPicture && keepsSound, args: [...streams, ...picture, ...sound], wideColors };
}

/** A signed video stays as it is also with its index at the end, because its signature covers the offsets of its boxes. */
function mayStay(layout: VideoLayout | undefined): boolean {
  if (layout?.isWhole !== true) return false;
  return layout.isIndexFirst || (layout.manifest !== undefined && !layout.isFragmented);
}

/**
 * Square pixels and even sides, which H.264 needs; of a given size when there is one, then cut at two sides instead of distorted.
 * Without B-frames: newer ffmpegs keep an uneven rate, and write too short a length where pictures are not in their order.
 */
function encodedPicture(size: FrameSize | undefined, wideColors: WideColors | undefined): string[] {
  const even = 'crop=trunc(iw/2)*2:trunc(ih/2)*2';
  const [width, height] = [size?.widthPx, size?.heightPx];
  // Scaling to whole sides makes pixels slightly oblong.
  const cut = `scale=${width}:${height}:force_original_aspect_ratio=increase,crop=${width}:${height},setsar=1`;
  const colors = wideColors === undefined ? [] : sdrFilters(wideColors, cubeName);
  const filters = ['scale=iw*sar:ih', 'setsar=1', size === undefined ? even : cut, ...colors].join();
  const tags = wideColors === undefined ? [] : sdrTags;
  const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-bf', '0', '-pix_fmt', 'yuv420p'];
  return ['-vf', filters, ...encoder, ...tags];
}

/** In the folder of the new file. */
const cubeName = 'to-bt709.cube';

type Wholeness = Pick<Normalisation, 'signal'> & {
  readonly path: string;
  readonly mostBytes: number;
  readonly claimedSeconds: number;
};

async function requireWhole({ path, mostBytes, claimedSeconds, signal }: Wholeness): Promise<void> {
  const { size } = await stat(path);
  if (size >= mostBytes) throw new VideoFileError(`the video has more than ${mostBytes} bytes`);
  const seconds = (await runVideoReader('streams', path, signal))?.durationSeconds ?? 0;
  if (seconds === 0 || seconds < leastShare * Math.min(claimedSeconds, mostSeconds))
    throw new VideoFileError(`${seconds} of ${claimedSeconds} seconds are in the file`);
}
