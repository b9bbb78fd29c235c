import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export type FfmpegReport = { readonly path: string; readonly version: string; readonly missing: readonly string[] };

/** The encoders of our MP4s and posters. */
const encoders = ['libx264', 'aac', 'mjpeg'];

/** The ffmpeg that a worker would use, and the encoders it lacks. Rejects if it does not run; unlike a start it blocks nothing. */
export async function inspectFfmpeg(path: string | undefined, signal: AbortSignal): Promise<FfmpegReport> {
  const run = promisify(execFile);
  const binary = path ?? 'ffmpeg';
  const { stdout: version } = await run(binary, ['-version'], { signal });
  const { stdout: listed } = await run(binary, ['-hide_banner', '-encoders'], { signal });
  const known = new Set([...listed.matchAll(/^ [A-Z.]{6} (\S+)/gm)].map(([, name]) => name));
  const missing = encoders.filter((name) => !known.has(name));
  return { path: binary, version: /^ffmpeg version (\S+)/.exec(version)?.[1] ?? 'unknown', missing };
}
