import { constants } from 'node:fs';
import { copyFile, link as hardLink, rm, rmdir } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { durableCopy, durableMove, isThere, type Move, sweepDrafts } from './durable-copy.ts';
import { createLinkSigner, type LinkSignerOptions, type PresentedLink } from './signed-link.ts';

export type FolderResultStoreOptions = LinkSignerOptions & {
  /** The folder; made when it is not there. Every process that writes or serves results needs the same one. */
  readonly resultStore: string;
};

export type ResultStore = ReturnType<typeof createFolderResultStore>;
export type LinkedFile = NonNullable<ReturnType<ResultStore['open']>>;

/**
 * Keeps results in a folder, by key (see `contentTypeOf`), and gives out signed links to this service's own media route. Methods
 * that take keys throw for what is none.
 */
export function createFolderResultStore(options: FolderResultStoreOptions) {
  const root = resolve(options.resultStore);
  const signer = createLinkSigner(options);
  // Once in a process, before its first write.
  let swept: Promise<void> | undefined;
  return {
    /** Stores a copy of a file. The same key may be written again; readers see the old or the new file. */
    put: async (key: string, filePath: string): Promise<void> => {
      requireMediaKey(key);
      await (swept ??= sweepDrafts(root).catch(() => undefined));
      await durableCopy(filePath, root, key);
    },
    /**
     * Makes a stored file readable at `filePath`, where no file may exist; answers false when there is none. It stays readable
     * when the key is deleted, and may share its bytes with the store, so it must not be written to.
     */
    fetchTo: (key: string, filePath: string): Promise<boolean> =>
      fetchIfThere(join(root, requireMediaKey(key)), filePath),
    /**
     * Moves each file from `from` to `to`, each atomically, over an existing one. When there is nothing under a `from` it was
     * moved before, so moves may be repeated.
     */
    move: async (moves: readonly Move[]): Promise<void> => {
      for (const { from, to } of moves)
        if (extname(requireMediaKey(from)) !== extname(requireMediaKey(to)))
          throw new Error(`${from} and ${to} do not end alike`);
      await durableMove(root, moves);
      for (const folder of new Set(moves.map(({ from }) => dirname(from)))) await removeEmptyFolder(root, folder);
    },
    /** Deletes a stored file; harmless when there is none. */
    delete: async (key: string): Promise<void> => {
      await rm(join(root, requireMediaKey(key)), { force: true });
      await removeEmptyFolder(root, dirname(key));
    },
    /** Deletes every file whose key begins with the folder; harmless when there is none. */
    deleteFolder: async (folder: string): Promise<void> => {
      if (!keyShape.test(folder)) throw new Error(`not a folder of the result store: ${JSON.stringify(folder)}`);
      await rm(join(root, folder), { recursive: true, force: true });
    },
    /**
     * An absolute URL that anybody may read for a limited time, by default a day, signed for this call. Does not check whether the
     * file exists.
     */
    link: (key: string, lifeMs?: number): string => signer.sign(requireMediaKey(key), lifeMs),
    /** The file behind a link, or undefined for a link that is altered or expired. `path` has `/` between its segments. */
    open: (link: PresentedLink) => {
      const contentType = contentTypeOf(link.key);
      const linkExpiresAt = signer.verify(link);
      if (contentType === undefined || linkExpiresAt === undefined) return undefined;
      const downloadName = link.key.split('/').slice(-2).join('-');
      return { root, path: `/${link.key}`, contentType, downloadName, linkExpiresAt };
    },
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

const maxKeyLength = 512;
const segment = '[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}';
const keyShape = new RegExp(`^${segment}(?:/${segment}){0,7}$`);

/** What is stored under each ending, so that a key alone says how its file is served. */
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['.mp4', 'video/mp4'],
  ['.jpg', 'image/jpeg'],
]);

/** Undefined for what is no key. A key is the same in a path, in a URL and in a file name. */
function contentTypeOf(key: string): string | undefined {
  return key.length <= maxKeyLength && keyShape.test(key) ? contentTypes.get(extname(key)) : undefined;
}

/** Throws for what is no key: keys are made by us, so a bad one is a bug. */
function requireMediaKey(key: string): string {
  if (contentTypeOf(key) !== undefined) return key;
  throw new Error(`not a key of the result store: ${JSON.stringify(key.slice(0, maxKeyLength))}`);
}
