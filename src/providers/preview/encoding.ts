/** Three threads suit two cores and give the same bytes on any number of them. */
const encoderThreads = '3';

const picture = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-profile:v', 'high', '-pix_fmt', 'yuv420p'];
const pace = ['-r', '24', '-g', '48', '-threads', encoderThreads];
const colours = ['-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709', '-color_range', 'tv'];
const sound = ['-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2'];

/** The index comes first, so that the film plays while it loads; nothing tells when or with what it was made. */
const container = ['-f', 'mp4', '-movflags', '+faststart', '-map_metadata', '-1', '-fflags', '+bitexact'];

/**
 * How `[film]`, and the sound of the given input, become the file. The graph says where the film ends: `-frames:v` would end the
 * sound, too, at whatever moment the encoder had come to by then.
 */
export function encoderArguments(withSound: boolean, soundInput: number): string[] {
  const audio = withSound ? ['-map', `${soundInput}:a`, ...sound, '-flags:a', '+bitexact'] : ['-an'];
  const video = ['-map', '[film]', ...picture, ...pace, ...colours];
  return [...video, '-flags:v', '+bitexact', ...audio, ...container];
}

/** As where a poster is made from a delivered video (src/media/poster.ts): where a film shows what it is about. */
const goodMoment = 0.4;

/**
 * The graph from `[finished]` to `[film]`, of so many frames, and to `[poster]`, the picture at 40 % of it: decoding the film
 * again would take a tenth of a second more. A JPEG has the colours of BT.601 in their full range, set one after the other
 * because ffmpeg 4.1 cannot do both at once.
 */
export function outputGraph(filmFrames: number): string {
  const first = Math.ceil(filmFrames * goodMoment);
  const whole = `trim=end_frame=${filmFrames}`;
  const moment = `trim=start_frame=${first}:end_frame=${first + 1},setpts=0`;
  const asJpeg = 'scale=in_color_matrix=bt709:out_color_matrix=bt601,format=yuv420p,scale=out_range=pc';
  return `[finished]split[all][one];[all]${whole}[film];[one]${moment},${asJpeg},format=yuvj420p[poster]`;
}

/** How `[poster]` becomes a file, with the same bytes on any number of cores. */
export const posterArguments = ['-map', '[poster]', '-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '3'].concat(
  ['-threads', '1', '-flags:v', '+bitexact', '-map_metadata', '-1', '-fflags', '+bitexact'],
  ['-f', 'image2', '-update', '1'],
);
