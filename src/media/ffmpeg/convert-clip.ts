import { rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FfmpegRunner } from '../../catalogue/media/ffmpeg-runner-types.ts';
import { type ClipContainer, type ClipKind, ClipRefusedError } from '../video/clip-container.ts';
import { isCausedByDisk, FfmpegError, hasTooMuchOutput } from './ffmpeg.ts';
import { generateCubeFile, sdrFilters, sdrTags, type WideColors } from './hdr.ts';
import { ReadTimeoutError, runVideoReader } from '../video/run-video-reader.ts';
import { VideoFileError } from '../video/video-file-error.ts';
import { ffmpegThreads, untrustedInputArguments } from './untrusted-input.ts';
import { maxFrameRate } from '../references/upload-limits-and-addresses.ts';
import type { ClipBounds } from '../../catalogue/input/resolutions-ratios-and-field-bounds.ts';

/** `maxPixels` is the limit of a video only. */
export type ClipLimits = Pick<ClipBounds, 'maxMegabytes' | 'maxSeconds'> & { readonly maxPixels?: number };

type Conversion = {
  readonly ffmpeg: FfmpegRunner;
  readonly kind: ClipKind;
  readonly demuxer: ClipContainer['demuxer'];
  readonly limits: ClipLimits;
  readonly fetchedPath: string;
  readonly path: string;
  readonly signal: AbortSignal;
};

/** Encoders fill their last frame. */
const paddingSeconds = 0.25;
/** Decoders work on whole blocks of at most 64 pixels a side. The exact limit is checked on the converted clip. */
const largestBlock = 64;

/**
 * The time limit of a conversion: a busy machine takes many times as long as a
 * free one, and a clip whose frames are never shown would take hours.
 */
const baseLimitMs = 5 * 60_000;
const limitMsPerSecond = 20_000;

/** Decoders of what cameras, phones and editors write. The others are rarely used and rarely tested. */
const decoders = [
  'h264,hevc,av1,libdav1d,libaom-av1,vp8,vp9,libvpx,libvpx-vp9,mpeg4,prores,mjpeg',
  'aac,mp3,mp3float,alac,ac3,eac3,opus,libopus,vorbis,libvorbis,flac,pcm_alaw,pcm_mulaw,adpcm_ms,adpcm_ima_wav',
  'pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be',
].join();

/**
 * Converts a checked container to an MP4 with H.264 and AAC, or to an MP3, because vendors document MP3 and WAV for sound and no other
 * format. Returns its length in seconds. Only the first picture and the first sound are in it, and no metadata. Throws `ClipRefusedError` for
 * a clip beyond the limits and for one that cannot be decoded.
 */
export async function convertClip(conversion: Conversion): Promise<number> {
  const { ffmpeg, kind, limits, fetchedPath, path, signal } = conversion;
  const limitMs = baseLimitMs + limits.maxSeconds * limitMsPerSecond;
  const wideColors = kind === 'video' ? await readColors(fetchedPath, signal) : undefined;
  const cubePath = `${path}.cube`;
  if (wideColors !== undefined) await writeFile(cubePath, generateCubeFile(wideColors));
  const colors = wideColors && { wideColors, cube: basename(cubePath) };
  const args = [...inputArgs(conversion), ...(kind === 'video' ? pictureArgs(limits, colors) : ['-vn'])];
  args.push(...soundArgs(kind), ...outputArgs(limits), ...containers[kind], path);
  // Sound has no frames that could show its progress, so the limit replaces the watch for stalls.
  await ffmpeg({ args, cwd: dirname(path), signal, limitMs, stallMs: 2 * limitMs }).catch((error: unknown) => {
    throw explainFailure(error, kind, limits);
  });
  await rm(cubePath, { force: true });
  return await checkedSeconds(conversion);
}

/** Undefined also for a file that the reader does not know, such as an AVI, which has no HDR; ffmpeg judges a file that cannot be read. */
async function readColors(path: string, signal: AbortSignal): Promise<WideColors | undefined> {
  const streams = await runVideoReader('streams', path, signal).catch((error: unknown) => {
    if (error instanceof ReadTimeoutError) throw new ClipRefusedError('takes too long to decode', { cause: error });
    if (error instanceof VideoFileError) return undefined;
    throw error;
  });
  return streams?.wideColors;
}

function inputArgs({ demuxer, limits: { maxPixels }, fetchedPath }: Conversion): string[] {
  const side = maxPixels === undefined ? 0 : Math.ceil(Math.sqrt(maxPixels)) + largestBlock;
  const largest = maxPixels && Math.max(side * side, 2 * maxPixels);
  return ['-codec_whitelist', decoders, ...untrustedInputArguments({ demuxer, path: fetchedPath, maxPixels: largest })];
}

type Colors = { readonly wideColors: WideColors; readonly cube: string };

/** Square pixels and even sides, which H.264 needs; without B-frames, as in `encodedPicture` of convert-result-video.ts. */
function pictureArgs({ maxSeconds }: ClipLimits, colors: Colors | undefined): string[] {
  // A limit of the output (`-frames:v`) would end the sound with the picture.
  const limit = `trim=end_frame=${frameLimit(maxSeconds)}`;
  const filters = ['scale=iw*sar:ih', 'setsar=1', 'crop=trunc(iw/2)*2:trunc(ih/2)*2', limit];
  if (colors !== undefined) filters.push(...sdrFilters(colors.wideColors, colors.cube));
  const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-bf', '0', '-pix_fmt', 'yuv420p'];
  // Captions are text of the client's, hidden in the picture.
  const withoutCaptions = ['-a53cc', '0'];
  return ['-map', '0:V:0', '-vf', filters.join(), ...encoder, ...withoutCaptions, ...(colors ? sdrTags : [])];
}

function frameLimit(maxSeconds: number): number {
  return (maxSeconds + 1) * maxFrameRate;
}

function soundArgs(kind: ClipKind): string[] {
  const sound = kind === 'video' ? '0:a:0?' : '0:a:0';
  const encoder = kind === 'video' ? 'aac' : 'libmp3lame';
  return ['-map', sound, '-c:a', encoder, '-b:a', '192k', '-ac', '2', '-ar', '48000'];
}

const containers = {
  video: ['-movflags', '+faststart', '-f', 'mp4'],
  audio: ['-id3v2_version', '0', '-f', 'mp3'],
} as const satisfies Record<ClipKind, unknown>;

/** A longer clip is cut here, which shows that it is too long. */
function outputArgs({ maxSeconds, maxMegabytes }: ClipLimits): string[] {
  const limits = ['-threads', `${ffmpegThreads}`, '-t', `${maxSeconds + 1}`, '-fs', `${maxMegabytes * 1024 * 1024}`];
  const withoutMetadata = ['-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'];
  return [...limits, ...withoutMetadata];
}

/** If ffmpeg was not started, was killed by the system or filled the disk, this machine is the cause, and the error may be retried. */
function explainFailure(error: unknown, kind: ClipKind, { maxPixels }: ClipLimits): unknown {
  if (!(error instanceof FfmpegError)) return error;
  const { exitCode, timedOut, stderr } = error.failure;
  const refusal = (why: string) => new ClipRefusedError(why, { cause: error });
  if (timedOut) return refusal('takes too long to decode');
  const cannot = refusal(kind === 'video' ? 'cannot be played as a video' : 'cannot be played as audio');
  if (hasTooMuchOutput(error)) return cannot;
  if (exitCode === null || isCausedByDisk(error)) return error;
  if (stderr.includes('exceeds specified max pixel count')) return refusal(tooLarge(maxPixels));
  return cannot;
}

function tooLarge(maxPixels: number | undefined): string {
  return `has more than ${maxPixels} pixels (width × height)`;
}

/** Measures the converted clip, because a clip may declare anything. */
async function checkedSeconds({ kind, path, limits, signal }: Conversion): Promise<number> {
  const { maxSeconds, maxMegabytes, maxPixels = Infinity } = limits;
  const { size } = await stat(path);
  if (size >= maxMegabytes * 1024 * 1024) {
    const format = kind === 'video' ? 'H.264 and AAC' : 'MP3';
    throw new ClipRefusedError(`is larger than ${maxMegabytes} MB as ${format}`);
  }
  const measured = await runVideoReader(`${kind}Clip`, path, signal);
  if (measured === undefined) throw new ClipRefusedError('has no picture or sound that can be played');
  const { seconds, soundSeconds, pixels, frames } = measured;
  if (pixels > maxPixels) throw new ClipRefusedError(tooLarge(maxPixels));
  // Frames end at their limit, before the seconds do.
  if (frames >= frameLimit(maxSeconds)) throw new ClipRefusedError(`has more than ${maxFrameRate} frames per second`);
  if (seconds > maxSeconds + paddingSeconds) {
    const what = kind === 'video' && soundSeconds >= seconds ? 'has sound that is' : 'is';
    throw new ClipRefusedError(`${what} longer than ${maxSeconds} seconds`);
  }
  return seconds;
}
