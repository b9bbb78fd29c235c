import { constants } from 'node:fs';
import { access, copyFile, link as hardLink, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { LinkedFile, PresentedLink, ResultStore } from '../domain/ports.ts';
import { durableCopy, durableMove, isMissing, sweepDrafts } from './durable-copy.ts';
import { contentTypeOf, isMediaKey, requireMediaKey } from './media-key.ts';
import { createLinkSigner, type LinkSigner, type LinkSignerOptions } from './signed-link.ts';

export type FolderResultStoreOptions = LinkSignerOptions & {
  /** The folder; made when it is not there. Every process that writes or serves results needs the same one. */
  readonly resultStore: string;
};

export type FolderResultStore = Omit<ResultStore, 'link'> &
  Required<Pick<ResultStore, 'open'>> & { link(key: string): string };

const sweepEveryMs = 60 * 60_000;

/** Keeps results in a folder and gives out signed links to this service's own media route. */
export function createFolderResultStore(options: FolderResultStoreOptions): FolderResultStore {
  const root = resolve(options.resultStore);
  const signer = createLinkSigner(options);
  const sweep = createSweep(root, options.now ?? Date.now);
  return {
    put: async (key, filePath, contentType) => {
      if (contentTypeOf(key) !== contentType) throw new Error(`${contentType} does not fit the ending of ${key}`);
      await sweep();
      await durableCopy(filePath, root, key);
    },
    link: (key) => signer.sign(requireMediaKey(key)),
    fetchTo: (key, filePath) => fetchIfThere(join(root, requireMediaKey(key)), filePath),
    move: async (moves) => {
      for (const { from, to } of moves)
        if (contentTypeOf(from) !== contentTypeOf(to)) throw new Error(`${from} and ${to} do not end alike`);
      await durableMove(root, moves);
      for (const folder of new Set(moves.map(({ from }) => dirname(from)))) await removeEmptyFolder(root, folder);
    },
    delete: async (key) => {
      await rm(join(root, requireMediaKey(key)), { force: true });
      await removeEmptyFolder(root, dirname(key));
    },
    open: (link) => linkedFile(root, signer, link),
  };
}

/** Every task has a folder; one that is not empty is not removed. */
async function removeEmptyFolder(root: string, folder: string): Promise<void> {
  if (folder !== '.') await rmdir(join(root, folder)).catch(() => undefined);
}

/** A hard link, which costs nothing; a copy where the file lies on another disk, or on one without hard links. */
async function fetchIfThere(from: string, to: string): Promise<boolean> {
  try {
    await hardLink(from, to).catch((error: unknown) => {
      if (isMissing(error)) throw error;
      // Never over an existing file: it may be a hard link to a stored one.
      return copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    });
    return true;
  } catch (error) {
    // A missing destination folder is the caller's mistake, not a missing result.
    if (!isMissing(error) || (await exists(from))) throw error;
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function linkedFile(root: string, signer: LinkSigner, link: PresentedLink): LinkedFile | undefined {
  if (!isMediaKey(link.key)) return undefined;
  const linkExpiresAt = signer.verify(link);
  if (linkExpiresAt === undefined) return undefined;
  const downloadName = link.key.split('/').slice(-2).join('-');
  return { root, path: `/${link.key}`, contentType: contentTypeOf(link.key), downloadName, linkExpiresAt };
}

/** Sweeps before the first write of this process and then once an hour; writers at the same time do not wait for it. */
function createSweep(root: string, now: () => number): () => Promise<void> {
  let nextAt = -Infinity;
  return async () => {
    if (now() < nextAt) return;
    nextAt = now() + sweepEveryMs;
    await sweepDrafts(root, now());
  };
}
