import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { SetupError } from '../../platform/setup-errors-and-error-messages.ts';

/** A binary that does not start within this time counts as broken; one on a busy machine or a cold disk takes seconds. */
const startTimeoutMs = 60_000;

/** Returns the path if one is given, else `ffmpeg` on the PATH. Throws a `SetupError` if it does not run. */
export function requireFfmpeg(path?: string): string {
  const binary = path ?? 'ffmpeg';
  try {
    execFileSync(binary, ['-version'], { stdio: 'ignore', timeout: startTimeoutMs });
    return binary;
  } catch {
    throw new SetupError(
      path === undefined
        ? 'No ffmpeg found: install ffmpeg on the PATH, or set FFMPEG_PATH.'
        : `FFMPEG_PATH: ${path} cannot be run as ffmpeg; check the path and its execute permission.`,
    );
  }
}

export type FfmpegReport = { readonly path: string; readonly version: string; readonly missing: readonly string[] };

const encoders = ['libx264', 'aac', 'libmp3lame', 'mjpeg'];

/** Returns the ffmpeg of a worker and the encoders that it lacks. Rejects if it does not run. */
export async function inspectFfmpeg(path: string | undefined, signal: AbortSignal): Promise<FfmpegReport> {
  const run = promisify(execFile);
  const binary = path ?? 'ffmpeg';
  const { stdout: version } = await run(binary, ['-version'], { signal });
  const { stdout: listed } = await run(binary, ['-hide_banner', '-encoders'], { signal });
  const known = new Set([...listed.matchAll(/^ [A-Z.]{6} (\S+)/gm)].map(([, name]) => name));
  const missing = encoders.filter((name) => !known.has(name));
  return { path: binary, version: /^ffmpeg version (\S+)/.exec(version)?.[1] ?? 'unknown', missing };
}
