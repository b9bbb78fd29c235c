import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SetupError } from '../domain/errors.ts';

/** A binary that hangs is none; one that only takes long is on a busy machine or a cold disk. */
const versionTimeoutMs = 60_000;

/** The explicit path when one is given (and only that one), else `ffmpeg` on PATH, else the binary that npm shipped. */
export function ffmpegBinary(path?: string): string {
  if (path !== undefined) {
    if (runs(path)) return path;
    throw new SetupError(`FFMPEG_PATH: ${path} cannot be run as ffmpeg; check the path and its execute permission.`);
  }
  if (runs('ffmpeg')) return 'ffmpeg';
  const shipped = shippedFfmpeg();
  if (shipped !== undefined && runs(shipped)) return shipped;
  throw new SetupError('No ffmpeg found: install ffmpeg 4.1 or newer on the PATH, or set FFMPEG_PATH to one.');
}

/** The binary inside the npm package; undefined where the package has none for this platform. */
export function shippedFfmpeg(): string | undefined {
  try {
    // Required late, because the package throws on platforms it does not know; it has no types.
    const { path } = createRequire(import.meta.url)('@ffmpeg-installer/ffmpeg') as { readonly path: string };
    // The package's install script, which makes it executable, may have been blocked.
    if (!runs(path)) chmodSync(path, 0o755);
    return path;
  } catch {
    return undefined;
  }
}

function runs(binary: string): boolean {
  try {
    execFileSync(binary, ['-version'], { stdio: 'ignore', timeout: versionTimeoutMs });
    return true;
  } catch {
    return false;
  }
}
