import { createFolderFiles } from '../../src/media/store/folder-files.ts';
import { createResultStore, type ResultStore } from '../../src/media/store/result-store.ts';
import type { LinkSignerOptions } from '../../src/media/store/signed-link.ts';

/** A result store in a folder, with links of the tests' own. */
export function createFolderStore(folder: string, links: Partial<LinkSignerOptions> = {}): ResultStore {
  return createResultStore(createFolderFiles(folder), {
    secret: 's'.repeat(32),
    publicUrl: 'http://media.test',
    ...links,
  });
}
