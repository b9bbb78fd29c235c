import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { undefinedIfMissing } from './durable-copy-and-move.ts';
import { s3SettingsOf } from './open-store.ts';
import type { S3Config, StoreLocation } from './store-location.ts';

/** A file in the store that names its installation. No key of a result can have its name. */
export type StoreMarker = {
  readonly read: () => Promise<string | undefined>;
  readonly write: (installationId: string) => Promise<void>;
};

const fileName = '.installation';

/** Opens the marker of a store without a request to it. */
export async function openStoreMarker(location: StoreLocation, config: S3Config): Promise<StoreMarker> {
  if (location.kind === 'folder') return folderMarker(location.path);
  const { createS3Marker } = await import('./s3/s3-marker.ts');
  return createS3Marker({ location, s3: s3SettingsOf(config) }, fileName);
}

function folderMarker(folder: string): StoreMarker {
  const path = join(folder, fileName);
  return {
    read: async () => (await undefinedIfMissing(readFile(path, 'utf8')))?.trim(),
    write: async (installationId) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const draft = `${path}.${randomUUID()}`;
      try {
        await writeFile(draft, `${installationId}\n`, { mode: 0o600, flush: true });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },
  };
}
