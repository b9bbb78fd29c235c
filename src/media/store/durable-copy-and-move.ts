import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../platform/setup-errors-and-error-messages.ts';
import type { KeyMove } from './media-keys-and-content-types.ts';

/** A folder in the store's own file system, where a rename is atomic; no key can name it, because of its dot. */
const draftsFolder = '.drafts';
/** A draft untouched for this time has no writer. */
const staleDraftMs = 24 * 60 * 60_000;
const renameAttempts = 20;

/**
 * Copies a file to `path` inside `root` so that a reader, also one after a crash of the machine, finds all of it or
 * nothing. Returns once the copy is on the disk.
 */
export async function copyFileDurably(source: string, root: string, path: string): Promise<void> {
  const draft = join(root, draftsFolder, randomUUID());
  try {
    await mkdir(dirname(draft), { recursive: true });
    await copyFile(source, draft, constants.COPYFILE_FICLONE);
    // A copy has the mode of its source, which others may be allowed to read.
    await chmod(draft, 0o600);
    await syncToDisk(draft);
    await moveInto(draft, join(root, path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolders(root, path);
}

/**
 * Moves files from one path inside `root` to another, so that each is always at one of its two paths. Returns once their new paths are on
 * the disk, also if an earlier move was interrupted before that.
 */
export async function moveFilesDurably(root: string, moves: readonly KeyMove[]): Promise<void> {
  for (const { from, to } of moves) {
    await moveInto(join(root, from), join(root, to)).catch(async (error: unknown) => {
      if (await isThere(join(root, from))) throw error;
    });
  }
  await syncFolders(root, ...moves.map(({ to }) => to));
}

/** Deletes the drafts that killed writers left behind. */
export async function deleteStaleDrafts(root: string): Promise<void> {
  const folder = join(root, draftsFolder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const draft = join(folder, name);
    // The writer of a missing one has just moved it.
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > staleDraftMs) await rm(draft, { force: true });
  }
}

/** A delete may remove the empty folder before the rename; then it is made again. */
async function moveInto(source: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(target), { recursive: true });
      await rename(source, target);
      return;
    } catch (error) {
      if (attempt === renameAttempts || errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** A new folder is only safe once the one above it is written, up to the root. */
async function syncFolders(root: string, ...paths: readonly string[]): Promise<void> {
  const folders = new Set<string>([root]);
  for (const path of paths) for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(join(root, at));
  await Promise.all([...folders].map(syncToDisk));
}

/** Writes a file or a folder to the disk. */
async function syncToDisk(path: string): Promise<void> {
  // A missing folder was removed by a delete after our write.
  await using file = await undefinedIfMissing(open(path));
  await file?.sync();
}

/** Returns undefined if the file or folder does not exist. */
export function undefinedIfMissing<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}

export function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
