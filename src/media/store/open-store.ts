import { join } from 'node:path';
import { SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { nameOfStore, type S3Config, type StoreLocation } from './store-location.ts';
import type { Log } from '../../platform/log/log.ts';
import { createFolderFiles } from './folder-files.ts';
import { createResultStore, type MediaFiles, type ResultStore } from './result-store.ts';
import type { LinkSignerOptions } from './signed-link.ts';
import { createTwoStores } from './two-stores.ts';
import { makePrivateFolder } from '../../platform/process/make-private-folder.ts';

/** The settings of the result store, and those of the links to its files. */
export type StoreSettings = S3Config &
  LinkSignerOptions & {
    readonly resultStore: StoreLocation;
    /** The store that an installation is moved from or to. */
    readonly resultStoreAlso?: StoreLocation | undefined;
  };

/** The result store by default. */
export function defaultStoreLocation({ dataFolder }: { readonly dataFolder: string }): StoreLocation {
  return { kind: 'folder', path: join(dataFolder, 'results') };
}

/** Opens the result store. Throws `SetupError` if the store rejects us; an unavailable bucket only delays the tasks that need it. */
export async function openStore(
  settings: StoreSettings,
  log: Log,
  uses: { readonly writes: boolean },
): Promise<ResultStore> {
  const { resultStore, resultStoreAlso } = settings;
  const check = (location: StoreLocation, setting: string) =>
    ensureStoreAccess(location, setting, settings, uses).catch((error: unknown) => {
      if (location.kind === 'folder' || error instanceof SetupError) throw error;
      const store = nameOfStore(location);
      log.warn({ err: error, store }, 'result store unavailable at the start; tasks wait for it');
    });
  const first = await openMediaFiles(resultStore, settings);
  await check(resultStore, 'RESULT_STORE');
  if (resultStoreAlso === undefined) return createResultStore(first, settings);
  await check(resultStoreAlso, 'RESULT_STORE_ALSO');
  return createResultStore(createTwoStores(first, await openMediaFiles(resultStoreAlso, settings)), settings);
}

/** Opens the store for signing links only, without access to its files. */
export async function openStoreForLinks(settings: StoreSettings): Promise<ResultStore> {
  return createResultStore(await openMediaFiles(settings.resultStore, settings), settings);
}

/** Opens one store without a request to it. */
export async function openMediaFiles(location: StoreLocation, config: S3Config): Promise<MediaFiles> {
  if (location.kind === 'folder') return createFolderFiles(location.path);
  // Most installations do not need the SDK, which is large.
  const { createS3Files } = await import('./s3/s3-files.ts');
  return createS3Files({ location, s3: s3SettingsOf(config) });
}

/** Creates the folder, or checks the rights to the bucket. Throws `SetupError` if the store rejects us. */
export async function ensureStoreAccess(
  location: StoreLocation,
  setting: string,
  config: S3Config,
  uses: { readonly writes: boolean },
): Promise<void> {
  if (location.kind === 'folder') return makePrivateFolder(location.path, setting);
  const { checkBucket } = await import('./s3/s3-files.ts');
  await checkBucket({ location, s3: s3SettingsOf(config) }, uses);
}

export function s3SettingsOf({ s3Endpoint: endpoint, s3Region: region, s3PathStyle: pathStyle }: S3Config) {
  return { endpoint, region, pathStyle };
}
