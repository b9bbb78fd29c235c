import { extname, join } from 'node:path';
import { type KeyMove, requireMovesKeepEnding } from './media-keys-and-content-types.ts';
import type { MediaFiles, StoredFile } from './result-store.ts';
import { withTempFolder } from './with-temp-folder.ts';

/**
 * An installation that moves from one store to another: every file is written to `first` and read from where it is. A delete begins with
 * `also`, so that a copy made from there meanwhile is deleted too (copy-finished-files.ts).
 */
export function createTwoStores(first: MediaFiles, also: MediaFiles): MediaFiles {
  return {
    put: first.put,
    fetchTo: async (key, filePath) => (await first.fetchTo(key, filePath)) || (await also.fetchTo(key, filePath)),
    read: async (key) => (await first.read(key)) ?? (await also.read(key)),
    move: async (moves) => {
      for (const { from } of requireMovesKeepEnding(moves)) await bringOver(first, also, from);
      await first.move(moves);
      for (const { from } of moves) await also.delete(from);
    },
    delete: async (key) => {
      await also.delete(key);
      await first.delete(key);
    },
    deleteFolder: async (folder) => {
      await also.deleteFolder(folder);
      await first.deleteFolder(folder);
    },
    sizeOf: async (key) => (await first.sizeOf(key)) ?? (await also.sizeOf(key)),
    uploadLink: first.uploadLink,
    list: (folder) => listBoth(first, also, folder),
    sourceOf: async (...request) => (await first.sourceOf(...request)) ?? (await also.sourceOf(...request)),
  };
}

async function* listBoth(first: MediaFiles, also: MediaFiles, folder: string): AsyncGenerator<StoredFile> {
  const listed = new Set<string>();
  for (const store of [first, also])
    for await (const file of store.list(folder)) {
      if (!listed.has(file.key)) yield file;
      listed.add(file.key);
    }
}

/** Copies a file that another process has staged in the other store. */
async function bringOver(first: MediaFiles, also: MediaFiles, key: KeyMove['from']): Promise<void> {
  if ((await first.sizeOf(key)) !== undefined) return;
  await withTempFolder(async (folder) => {
    const path = join(folder, `file${extname(key)}`);
    if (await also.fetchTo(key, path)) await first.put(key, path);
  });
}
