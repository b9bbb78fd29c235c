import { access, copyFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { durableCopy, sweepDrafts } from './durable-copy.ts';
import { isMissing } from './is-missing.ts';
import { contentTypeOf, isMediaKey, requireMediaKey } from './media-key.ts';
import type { LinkedFile, PresentedLink, ResultStore } from './result-store.ts';
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
    fetchTo: (key, filePath) => copyIfThere(join(root, requireMediaKey(key)), filePath),
    delete: async (key) => {
      const path = join(root, requireMediaKey(key));
      await rm(path, { force: true });
      // Every task has a folder of its own; a folder that still holds something refuses to go.
      if (dirname(path) !== root) await rmdir(dirname(path)).catch(() => undefined);
    },
    open: (link) => linkedFile(root, signer, link),
  };
}

async function copyIfThere(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    return true;
  } catch (error) {
    // A missing destination folder is the caller's mistake and must not look like a missing result.
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
