/** As where a poster is made from a delivered video (src/media/poster.ts): past the opening fade, where a film shows what it is about. */
const goodMoment = 0.4;

/**
 * The graph from `[finished]` to `[film]`, of so many frames, and to `[poster]`, the picture at 40 % of it: decoding the film again for its poster would
 * take a tenth of a second more. A JPEG has the colours of BT.601 in their full range, set one after the other because ffmpeg 4.1
 * cannot do both at once.
 */
export function outputGraph(filmFrames: number): string {
  const first = Math.ceil(filmFrames * goodMoment);
  const whole = `trim=end_frame=${filmFrames}`;
  const moment = `trim=start_frame=${first}:end_frame=${first + 1},setpts=0`;
  const colours = 'scale=in_color_matrix=bt709:out_color_matrix=bt601,format=yuv420p,scale=out_range=pc';
  return `[finished]split[all][one];[all]${whole}[film];[one]${moment},${colours},format=yuvj420p[poster]`;
}

/** How `[poster]` becomes a file, with the same bytes on any number of cores. */
export const posterArguments = ['-map', '[poster]', '-frames:v', '1', '-c:v', 'mjpeg', '-q:v', '3'].concat(
  ['-threads', '1', '-flags:v', '+bitexact', '-map_metadata', '-1', '-fflags', '+bitexact'],
  ['-f', 'image2', '-update', '1'],
);
