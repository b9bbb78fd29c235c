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
