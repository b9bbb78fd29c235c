import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { isMissing } from './is-missing.ts';

/** A folder in the store's own file system, where a rename is atomic; no key can name it, because of its dot. */
const draftsFolder = '.drafts';
/** A draft untouched for so long has no writer any more. */
const staleDraftMs = 24 * 60 * 60_000;
const renameAttempts = 20;

/**
 * Copies a file to `path` inside `root` so that a reader, also one after a crash of the machine, finds all of it or
 * nothing. Returns once the copy is on the disk.
 */
export async function durableCopy(source: string, root: string, path: string): Promise<void> {
  const draft = join(root, draftsFolder, randomUUID());
  await mkdir(dirname(draft), { recursive: true });
  try {
    await copyFile(source, draft, constants.COPYFILE_FICLONE);
    await syncToDisk(draft);
    await moveInto(draft, join(root, path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  for (const folder of foldersBetween(root, join(root, path))) await syncToDisk(folder);
}

/** Deletes the drafts that killed writers left behind. */
export async function sweepDrafts(root: string, nowMs: number): Promise<void> {
  const folder = join(root, draftsFolder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const draft = join(folder, name);
    // One that is gone has just been put in its place by its writer.
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > staleDraftMs) await rm(draft, { force: true });
  }
}

/** A delete may take the empty folder away while it is being made, or before the rename; then it is made again. */
async function moveInto(draft: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(target), { recursive: true });
      await rename(draft, target);
      return;
    } catch (error) {
      if (attempt === renameAttempts || !isMissing(error)) throw error;
    }
  }
}

async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    // A folder that is gone was emptied by a delete that came later than our write.
    if (isMissing(error)) return undefined;
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

/** The folder of the file first, the root last: a new folder is only safe once the one above it is written. */
function foldersBetween(root: string, file: string): readonly string[] {
  const depth = relative(root, dirname(file)).split(sep).filter(Boolean).length;
  return Array.from({ length: depth + 1 }, (_, level) => join(dirname(file), ...Array<string>(level).fill('..')));
}
