type UntrustedInput = {
  /** ffmpeg's name of the container. */
  readonly demuxer: string;
  readonly path: string;
  readonly maxPixels?: number | undefined;
};

/** The threads of one run of ffmpeg, to decode and to encode: enough for a single video, and few enough for many runs at the same time. */
export const ffmpegThreads = 2;
/** The largest decoded picture has 8192 × 4096 pixels. A larger one would take the memory of all tasks. */
const mostPixels = 33_554_432;
/** The largest piece of memory that ffmpeg may reserve. A few bytes can declare an index of gigabytes. */
const maxAllocatedBytes = 512 * 1024 * 1024;

/** Arguments of ffmpeg for a file that clients or upstreams made. */
export function untrustedInputArguments({ demuxer, path, maxPixels = mostPixels }: UntrustedInput): readonly string[] {
  const limits = ['-threads', `${ffmpegThreads}`, '-max_alloc', `${maxAllocatedBytes}`, '-max_pixels', `${maxPixels}`];
  return [
    ...limits,
    // Another file that an MP4 refers to must never be opened.
    ...(demuxer === 'mov' ? ['-enable_drefs', '0'] : []),
    // Left to guess, ffmpeg takes a text for a playlist, and reads the files that it names.
    '-f',
    demuxer,
    '-i',
    path,
  ];
}
