import { execFileSync } from 'node:child_process';
import { SetupError } from '../domain/errors.ts';

/** A binary that does not start within this time counts as broken; one on a busy machine or a cold disk takes seconds. */
const startTimeoutMs = 60_000;

/** The path if one is given, else `ffmpeg` on the PATH. Throws a `SetupError` if it does not run. */
export function ffmpegBinary(path?: string): string {
  if (runs(path ?? 'ffmpeg')) return path ?? 'ffmpeg';
  throw new SetupError(
    path === undefined
      ? 'No ffmpeg found: install ffmpeg on the PATH, or set FFMPEG_PATH.'
      : `FFMPEG_PATH: ${path} cannot be run as ffmpeg; check the path and its execute permission.`,
  );
}

function runs(binary: string): boolean {
  try {
    execFileSync(binary, ['-version'], { stdio: 'ignore', timeout: startTimeoutMs });
    return true;
  } catch {
    return false;
  }
}
