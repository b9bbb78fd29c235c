import { randomUUID } from 'node:crypto';
import { close, constants, fsync, open } from 'node:fs';
import { access, chmod, copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Move } from '../domain/ports.ts';

/** A folder in the store's own file system, where a rename is atomic; no key can name it, because of its dot. */
const draftsFolder = '.drafts';
/** A draft untouched for this time has no writer. */
const staleDraftMs = 24 * 60 * 60_000;
const renameAttempts = 20;

/**
 * Copies a file to `path` inside `root` so that a reader, also one after a crash of the machine, finds all of it or
 * nothing. Returns once the copy is on the disk.
 */
export async function durableCopy(source: string, root: string, path: string): Promise<void> {
  const draft = join(root, draftsFolder, randomUUID());
  try {
    await copyToDraft(source, draft);
    await syncToDisk(draft);
    await moveInto(draft, join(root, path));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolders(root, path);
}

/**
 * Moves files that are on the disk from one path inside `root` to another, so that each always lies at one of its two. Returns
 * once their new places are on the disk, also when an earlier move was cut off before that and left nothing to move.
 */
export async function durableMove(root: string, moves: readonly Move[]): Promise<void> {
  for (const { from, to } of moves) {
    await moveInto(join(root, from), join(root, to)).catch(async (error: unknown) => {
      if (!isMissing(error) || (await isThere(join(root, from)))) throw error;
    });
  }
  await syncFolders(root, ...moves.map(({ to }) => to));
}

/** Deletes the drafts that killed writers left behind. */
export async function sweepDrafts(root: string, nowMs: number): Promise<void> {
  const folder = join(root, draftsFolder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const draft = join(folder, name);
    // A missing one has just been moved to its place by its writer.
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > staleDraftMs) await rm(draft, { force: true });
  }
}

/** The folder for drafts is missing only the first time. */
async function copyToDraft(source: string, draft: string): Promise<void> {
  const copy = () => copyFile(source, draft, constants.COPYFILE_FICLONE);
  await copy().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(draft), { recursive: true });
    await copy();
  });
  // A copy has the mode of its source, which others may be allowed to read.
  await chmod(draft, 0o600);
}

/** A delete may remove the empty folder before the rename; then it is made again. */
async function moveInto(source: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(dirname(target), { recursive: true });
      await rename(source, target);
      return;
    } catch (error) {
      if (attempt === renameAttempts || !isMissing(error) || !(await isThere(source))) throw error;
    }
  }
}

const sharedSync = createSharedSync(syncToDisk);

/** Folders that this process knows to be on the disk with all above them: the parents of the tasks' folders. */
const settled = new Set<string>();
/** There are two of them, `staging` and `results`; the bound holds for any other keys. */
const mostSettled = 100;

/** A new folder is only safe once the one above it is written, up to the root; one write of those serves many files. */
async function syncFolders(root: string, ...paths: readonly string[]): Promise<void> {
  const folders = new Set<string>();
  const above = new Set<string>();
  for (const path of paths) {
    const [own = root, parent = root, ...higher] = foldersOf(root, path);
    for (const folder of [own, parent, ...(settled.has(parent) ? [] : higher)]) folders.add(folder);
    above.add(parent);
  }
  await Promise.all([...folders].map(sharedSync));
  for (const folder of above) if (settled.size < mostSettled) settled.add(folder);
}

/** The folder of the file first, the root last. */
function foldersOf(root: string, path: string): readonly string[] {
  const depth = dirname(path) === '.' ? 0 : dirname(path).split('/').length;
  return Array.from({ length: depth + 1 }, (_, level) => join(root, path, ...Array<string>(level + 1).fill('..')));
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** One folder's writes to the disk: the one that runs, and the one that begins after it. */
type Writes = { readonly running: Promise<void>; next: Promise<void> | undefined };

/**
 * Returns a function that writes a folder to the disk: what was put into it before the call is there when it returns. Calls
 * during one write share the next one, because the folders above those of the tasks are written for every file. A folder is
 * remembered while a call waits for it.
 */
export function createSharedSync(write: (folder: string) => Promise<void>): (folder: string) => Promise<void> {
  const writesOf = new Map<string, Writes>();
  const start = (folder: string): Promise<void> => {
    const writes: Writes = { running: write(folder), next: undefined };
    writesOf.set(folder, writes);
    const forget = () => {
      if (writes.next === undefined) writesOf.delete(folder);
    };
    writes.running.then(forget, forget);
    return writes.running;
  };
  return (folder) => {
    const writes = writesOf.get(folder);
    if (writes === undefined) return start(folder);
    const begin = () => start(folder);
    return (writes.next ??= writes.running.then(begin, begin));
  };
}

// Plain descriptors: a FileHandle costs half as much again, and every task needs a dozen of them.
const [opened, synced, closed] = [promisify(open), promisify(fsync), promisify(close)];

/** Writes a file or a folder to the disk. */
async function syncToDisk(path: string): Promise<void> {
  const descriptor = await opened(path, 'r').catch((error: unknown) => {
    // A missing folder was removed by a delete after our write.
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (descriptor === undefined) return;
  try {
    await synced(descriptor);
  } finally {
    await closed(descriptor);
  }
}

/** True for the error of a file or folder that is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
