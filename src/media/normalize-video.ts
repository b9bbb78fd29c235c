import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { FilePathSource, Input, MATROSKA, MP4, MPEG_TS, QTFF, WEBM } from 'mediabunny';
import pLimit from 'p-limit';
import { type FrameSize, frameSize } from './frame-size.ts';
import type { Ffmpeg, VideoForm } from '../tasks/ports.ts';
import { containerOf } from '../outbound/container.ts';
import { carryManifest } from './carry-manifest.ts';
import { blamingFile } from './inspect-video.ts';
import { VideoFileError } from './probe-video.ts';
import { type VideoLayout, videoLayoutOf } from './video-layout.ts';

type Normalisation = {
  readonly videoPath: string;
  /** The path of a new file, if one is needed. */
  readonly targetPath: string;
  readonly form: VideoForm;
  readonly signal: AbortSignal;
};

export type VideoNormaliser = ReturnType<typeof createVideoNormaliser>;

/** For one run, to decode and to encode: a lone video is not slow, and many beside each other lose nothing. */
const threads = 2;
/** The limit of a download, too. ffmpeg ends without an error when it has written that much. */
const defaultMostBytes = 1024 ** 3;
/** Longer videos are cut. It is far beyond every order, and a small file can hold days of one picture. */
const mostSeconds = 600;
/** The largest decoded picture has 8192 × 4096 pixels. A larger one would take the memory of all tasks. */
const mostPixels = 33_554_432;
/** One run of ffmpeg; below the time limit of `storeResult`, which includes the wait for a free core and the store. */
const limitMs = 10 * 60_000;
/** The least share of the claimed length. A file that was cut short decodes without an error up to the cut. */
const leastShare = 0.9;

/**
 * Makes an MP4 with H.264 and AAC, its index first, of what an upstream delivered, and returns its path: that of the video itself
 * when it is one already, of the requested size and with the requested sound. The C2PA manifest of the video is carried over. A bad file
 * is a `TaskError`, `result_invalid`.
 */
export function createVideoNormaliser(ffmpeg: Ffmpeg, mostBytes = defaultMostBytes) {
  const limited = pLimit(Math.ceil(availableParallelism() / threads));
  return ({ videoPath, targetPath, form, signal }: Normalisation): Promise<string> =>
    blamingFile(async () => {
      const demuxer = await containerOf(videoPath);
      if (demuxer === undefined) throw new VideoFileError('the file is in no known container');
      const found = await streamsOf(videoPath);
      const plan = planOf(found, form);
      const layout = demuxer === 'mov' ? await videoLayoutOf(videoPath) : undefined;
      if (found?.isMp4 === true && plan.isCopy && mayStay(layout)) return videoPath;
      // Left to guess, ffmpeg takes a text for a playlist, and reads the files that it names.
      const input = ['-threads', `${threads}`, '-max_pixels', `${mostPixels}`, '-f', demuxer, '-i', videoPath];
      const limits = ['-threads', `${threads}`, '-t', `${mostSeconds}`, '-fs', `${mostBytes}`];
      // An upstream's notes, such as the prompt and the graph that made the video, are not for the client.
      const output = ['-map_metadata', '-1', '-map_chapters', '-1', '-movflags', '+faststart', '-f', 'mp4', targetPath];
      const args = [...input, ...plan.args, ...limits, ...output];
      await limited(() => ffmpeg({ args, cwd: dirname(targetPath), signal, limitMs }));
      await requireWhole(targetPath, mostBytes, found?.durationSeconds ?? 0);
      if (layout?.manifest !== undefined) await carryManifest(videoPath, layout.manifest, targetPath);
      return targetPath;
    });
}

type Streams = NonNullable<Awaited<ReturnType<typeof streamsOf>>>;

/** Reads the first picture and sound of the file, which are those that ffmpeg uses; undefined for a file that cannot be read. */
async function streamsOf(path: string) {
  const input = new Input({ formats: [MP4, QTFF, MATROSKA, WEBM, MPEG_TS], source: new FilePathSource(path) });
  try {
    const [[video], [audio]] = await Promise.all([input.getVideoTracks(), input.getAudioTracks()]);
    if (video === undefined) return undefined;
    const entry = await video.getInternalCodecId();
    return {
      isMp4: (await input.getFormat()) === MP4,
      isPlayable: entry !== 'avc3' && isPlayable((await video.getDecoderConfig())?.codec),
      widthPx: await video.getDisplayWidth(),
      heightPx: await video.getDisplayHeight(),
      audio: audio && (await audio.getCodec()),
      durationSeconds: await video.getDurationFromMetadata(),
    };
  } catch {
    return undefined;
  } finally {
    input.dispose();
  }
}

/** Baseline, Main and High: profiles of H.264 with 8 bits and 4:2:0, which every browser plays. */
function isPlayable(codec: string | undefined): boolean {
  return /^avc1\.(42|4d|64)/i.test(codec ?? '');
}

/** `isCopy` when picture and sound stay as they are. */
function planOf(found: Streams | undefined, form: VideoForm) {
  const size = form.fit === 'convert' ? frameSize(form.resolution, form.ratio, found) : undefined;
  const fits = size === undefined || (found?.widthPx === size.widthPx && found.heightPx === size.heightPx);
  const keepsPicture = found?.isPlayable === true && fits;
  const keepsSound = found !== undefined && (found.audio === undefined || (found.audio === 'aac' && form.audio));
  const picture = keepsPicture ? ['-c:v', 'copy'] : encodedPicture(size);
  const sound = keepsSound ? ['-c:a', 'copy'] : ['-c:a', 'aac', '-b:a', '192k', '-ac', '2'];
  const streams = ['-map', '0:V:0', ...(form.audio ? ['-map', '0:a:0?'] : ['-an'])];
  return { isCopy: keepsPicture && keepsSound, args: [...streams, ...picture, ...sound] };
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
function encodedPicture(size: FrameSize | undefined): string[] {
  const even = 'crop=trunc(iw/2)*2:trunc(ih/2)*2';
  const [width, height] = [size?.widthPx, size?.heightPx];
  // Scaling to whole sides makes pixels slightly oblong.
  const cut = `scale=${width}:${height}:force_original_aspect_ratio=increase,crop=${width}:${height},setsar=1`;
  const filters = `scale=iw*sar:ih,setsar=1,${size === undefined ? even : cut}`;
  return ['-vf', filters, '-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-bf', '0', '-pix_fmt', 'yuv420p'];
}

async function requireWhole(path: string, mostBytes: number, claimedSeconds: number): Promise<void> {
  const { size } = await stat(path);
  if (size >= mostBytes) throw new VideoFileError(`the video has more than ${mostBytes} bytes`);
  const seconds = (await streamsOf(path))?.durationSeconds ?? 0;
  if (seconds === 0 || seconds < leastShare * Math.min(claimedSeconds, mostSeconds))
    throw new VideoFileError(`${seconds} of ${claimedSeconds} seconds are in the file`);
}
