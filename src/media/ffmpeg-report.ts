import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { shippedFfmpeg } from './ffmpeg-binary.ts';

export type FfmpegReport = { readonly path: string; readonly version: string; readonly missing: readonly string[] };

/** What makes our MP4s and posters. */
const encoders = ['libx264', 'aac', 'mjpeg'];

/** The ffmpeg that a worker would take, and what it lacks. Rejects when there is none; unlike a start it blocks nothing. */
export async function inspectFfmpeg(path: string | undefined, signal: AbortSignal): Promise<FfmpegReport> {
  const run = promisify(execFile);
  const inspect = async (binary: string) => {
    const { stdout: version } = await run(binary, ['-version'], { signal });
    const { stdout: listed } = await run(binary, ['-hide_banner', '-encoders'], { signal });
    const known = new Set([...listed.matchAll(/^ [A-Z.]{6} (\S+)/gm)].map(([, name]) => name));
    const missing = encoders.filter((name) => !known.has(name));
    return { path: binary, version: /^ffmpeg version (\S+)/.exec(version)?.[1] ?? 'unknown', missing };
  };
  if (path !== undefined) return await inspect(path);
  return await inspect('ffmpeg').catch(async (error: unknown) => {
    const shipped = signal.aborted ? undefined : shippedFfmpeg();
    if (shipped === undefined) throw error;
    return await inspect(shipped);
  });
}
