import { constants } from 'node:fs';
import { copyFile, link as hardLink, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import {
  copyFileDurably,
  moveFilesDurably,
  undefinedIfMissing,
  isThere,
  deleteStaleDrafts,
} from './durable-copy-and-move.ts';
import {
  contentTypeOf,
  requireMediaFolder,
  requireMediaKey,
  requireMovesKeepEnding,
} from './media-keys-and-content-types.ts';
import type { MediaFiles, StoredFile } from './result-store.ts';

/** Stores files in a folder, and creates it if it is missing. Every process that writes or serves results needs the same one. */
export function createFolderFiles(folder: string): MediaFiles {
  const root = resolve(folder);
  // Once in a process, before its first write.
  let swept: Promise<void> | undefined;
  const pathOf = (key: string) => join(root, requireMediaKey(key));
  return {
    put: async (key, filePath) => {
      requireMediaKey(key);
      await (swept ??= deleteStaleDrafts(root).catch(() => undefined));
      await copyFileDurably(filePath, root, key);
    },
    fetchTo: async (key, filePath) => fetchIfThere(pathOf(key), filePath),
    read: async (key) => (await undefinedIfMissing(open(pathOf(key))))?.createReadStream(),
    move: async (moves) => {
      await moveFilesDurably(root, requireMovesKeepEnding(moves));
      for (const left of new Set(moves.map(({ from }) => dirname(from)))) await removeEmptyFolder(root, left);
    },
    delete: async (key) => {
      await rm(pathOf(key), { force: true });
      await removeEmptyFolder(root, dirname(key));
    },
    deleteFolder: async (name) => {
      await rm(join(root, requireMediaFolder(name)), { recursive: true, force: true });
    },
    sizeOf: async (key) => (await undefinedIfMissing(stat(pathOf(key))))?.size,
    uploadLink: async () => undefined,
    list: (name) => filesUnder(root, join(root, requireMediaFolder(name))),
    sourceOf: async ({ key }) => ((await isThere(pathOf(key))) ? { kind: 'file', root, path: `/${key}` } : undefined),
  };
}

/** Every task has a folder; one that is not empty is not removed. */
async function removeEmptyFolder(root: string, folder: string): Promise<void> {
  if (folder !== '.') await rmdir(join(root, folder)).catch(() => undefined);
}

/** A hard link, which costs nothing; a copy where the file lies on another disk, or on one without hard links. */
async function fetchIfThere(from: string, to: string): Promise<boolean> {
  if (!(await isThere(from))) return false;
  // Never over an existing file: it may be a hard link to a stored one.
  const copy = () => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await hardLink(from, to).catch(copy);
  return true;
}

/** Leaves out files that are deleted meanwhile. */
async function* filesUnder(root: string, folder: string): AsyncGenerator<StoredFile> {
  const entries = (await undefinedIfMissing(readdir(folder, { withFileTypes: true }))) ?? [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      yield* filesUnder(root, path);
      continue;
    }
    const key = relative(root, path).split(sep).join('/');
    const sizeBytes = contentTypeOf(key) === undefined ? undefined : (await undefinedIfMissing(stat(path)))?.size;
    if (sizeBytes !== undefined) yield { key, sizeBytes };
  }
}
