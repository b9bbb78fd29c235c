import { constants } from 'node:fs';
import { copyFile, link as hardLink, rm, rmdir } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { durableCopy, durableMove, isThere, type Move, sweepDrafts } from './durable-copy.ts';
import { contentTypeOf, requireMediaKey } from './media-key.ts';
import { createLinkSigner, type LinkSigner, type LinkSignerOptions, type PresentedLink } from './signed-link.ts';

export type FolderResultStoreOptions = LinkSignerOptions & {
  /** The folder; made when it is not there. Every process that writes or serves results needs the same one. */
  readonly resultStore: string;
};

/** A file that a good link leads to: `path` lies in `root` and has `/` between its segments. */
export type LinkedFile = {
  readonly root: string;
  readonly path: string;
  readonly contentType: string;
  /** A name for the browser's "save as": letters, digits, dots, dashes and underscores. */
  readonly downloadName: string;
  /** Unix milliseconds. */
  readonly linkExpiresAt: number;
};

export type ResultStore = ReturnType<typeof createFolderResultStore>;

/**
 * Keeps results in a folder, by key (see `contentTypeOf`), and gives out signed links to this service's own media route. Methods
 * that take keys throw for what is none, and for faults of the disk.
 */
export function createFolderResultStore(options: FolderResultStoreOptions) {
  const root = resolve(options.resultStore);
  const signer = createLinkSigner(options);
  // Once in a process, before its first write.
  let swept: Promise<void> | undefined;
  return {
    /** Stores a copy of a file, all of it or nothing. The same key may be written again; readers see the old or the new file. */
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
    /** An absolute URL that anybody may read for a limited time, signed for this call. Does not check whether the file exists. */
    link: (key: string): string => signer.sign(requireMediaKey(key)),
    /** The file behind a link, or undefined for a link that is altered or expired. */
    open: (link: PresentedLink): LinkedFile | undefined => linkedFile(root, signer, link),
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

function linkedFile(root: string, signer: LinkSigner, link: PresentedLink): LinkedFile | undefined {
  const contentType = contentTypeOf(link.key);
  const linkExpiresAt = signer.verify(link);
  if (contentType === undefined || linkExpiresAt === undefined) return undefined;
  return {
    root,
    path: `/${link.key}`,
    contentType,
    downloadName: link.key.split('/').slice(-2).join('-'),
    linkExpiresAt,
  };
}
