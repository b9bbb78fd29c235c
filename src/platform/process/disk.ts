import { access, constants, stat, statfs } from 'node:fs/promises';
import { errorCode } from '../setup-errors-and-error-messages.ts';

/** A disk is full below this much free space, or below this share of a small one. The rest is for what is under way. */
export const diskReserveBytes = 128 * 1024 * 1024;
const reserveShare = 0.1;
/** Each task needs some files. */
const reserveFiles = 1_000;

export type DiskState = {
  /** Folders on one disk have the same number. */
  readonly device: number;
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** The reason why files cannot be written, such as `disk full`. */
  readonly problem: string | undefined;
};

/** Reads the state of the disk of a folder; undefined if the folder does not exist. Writes nothing. */
export async function readDisk(path: string): Promise<DiskState | undefined> {
  try {
    const [{ dev }, { bavail, blocks, bsize, files, ffree }] = await Promise.all([stat(path), statfs(path)]);
    const space = { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
    return {
      device: dev,
      ...space,
      problem: spaceProblem({ ...space, files, freeFiles: ffree }) ?? (await writeProblem(path)),
    };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

type Space = {
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** Zero on file systems without a limit. */
  readonly files: number;
  readonly freeFiles: number;
};

/** Returns why a disk must not get new work. */
export function spaceProblem({ freeBytes, sizeBytes, files, freeFiles }: Space): string | undefined {
  if (freeBytes < Math.min(diskReserveBytes, sizeBytes * reserveShare)) return 'disk full';
  if (freeFiles < Math.min(reserveFiles, files * reserveShare)) return 'disk full (no free inodes)';
  return undefined;
}

async function writeProblem(path: string): Promise<string | undefined> {
  const error: unknown = await access(path, constants.W_OK).catch((cause: unknown) => cause);
  return errorCode(error) === 'EROFS' ? 'disk read-only' : undefined;
}

const diskCodes: Readonly<Record<string, string>> = {
  ENOSPC: 'disk full',
  EDQUOT: 'disk quota used up',
  EROFS: 'disk read-only',
  EIO: 'disk fails',
};

/** Returns what is wrong with the disk behind an error of a file; undefined for any other error. */
export function diskProblemOfCode(code: string | undefined): string | undefined {
  return code === undefined ? undefined : diskCodes[code];
}
