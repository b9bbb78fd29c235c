import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';
import { nameOfStore, type S3Config, type StoreLocation } from './store-location.ts';
import { openStoreMarker, type StoreMarker } from './store-marker.ts';

// A worker that stores results where no API finds them would charge for dead links, and one with another namespace would refund tasks that
// run. So the store has the id of the installation, which is in the database, and a process with another store or namespace refuses to work.

type Installation = {
  readonly id: string;
  /** True once its stores have their markers. */
  readonly isMarked: boolean;
  /** Undefined until the first worker has started. */
  readonly namespace: string | undefined;
};

const readInstallation = one<Installation>({
  name: 'read-installation',
  text: `select id::text, marked_at is not null as "isMarked", temporal_namespace as namespace from installation`,
});

/** Lets one process write the first marker. A claim whose process died expires. */
const claimStores = maybeOne<{ readonly id: string }>({
  name: 'claim-stores',
  text: `
update installation set claimed_at = now()
where marked_at is null and (claimed_at is null or claimed_at < now() - interval '1 minute')
returning id::text`,
});

const recordMarked = noRows({ name: 'record-stores-marked', text: 'update installation set marked_at = now()' });

/** Returns the namespace in force: that of the first worker. */
const claimNamespace = one<{ readonly namespace: string }, [namespace: string]>({
  name: 'claim-namespace',
  text: `
update installation set temporal_namespace = coalesce(temporal_namespace, $1) returning temporal_namespace as namespace`,
});

const replaceNamespace = noRows<[namespace: string]>({
  name: 'replace-namespace',
  text: 'update installation set temporal_namespace = $1',
});

export type ConfiguredStores = S3Config & {
  readonly resultStore: StoreLocation;
  readonly resultStoreAlso?: StoreLocation | undefined;
};

/** Describes why this process does not belong to the installation of the database, and what to do about it. */
export type OwnershipProblem = { readonly reason: string; readonly remedy: string };

const adopt = 'If it was moved or lost on purpose, run "videogen media adopt" with the new settings.';
const claimPauseMs = 250;
const claimTries = 20;

/**
 * Compares the markers of the stores with the installation. The first process of an installation marks its stores; afterwards one of the two
 * stores must have the marker, and a new store beside it gets one. Throws if the database or a store is unavailable.
 */
export async function claimStoresOrFindProblem(
  db: Database,
  stores: ConfiguredStores,
): Promise<OwnershipProblem | undefined> {
  const opened = await openMarkers(stores);
  for (let tries = 1; ; tries += 1) {
    const installation = await readInstallation(db);
    const { id, isMarked } = installation;
    const found = await readMarkers(opened);
    const other = storeMismatch(installation, found);
    if (other !== undefined) return other;
    const unmarked = found.filter(({ marker }) => marker === undefined);
    if (isMarked && unmarked.length === 0) return undefined;
    if (isMarked || (await claimStores(db)) !== undefined) {
      for (const store of unmarked) await store.write(id);
      await recordMarked(db);
      return undefined;
    }
    // Another process is marking its stores.
    if (tries === claimTries) throw new Error('another process has not marked its result store yet');
    await pause(claimPauseMs);
  }
}

/** Compares the namespace of a worker with that of the installation, which is the one of its first worker. */
export async function claimTemporalNamespaceOrFindProblem(
  db: Database,
  own: string,
): Promise<OwnershipProblem | undefined> {
  const { namespace } = await claimNamespace(db, own);
  return namespace === own ? undefined : otherNamespace(own, namespace);
}

/** Compares like `claimStoresOrFindProblem` and `claimTemporalNamespaceOrFindProblem`, and changes nothing. */
export async function findOwnershipProblem(
  db: Database,
  stores: ConfiguredStores,
  own: string,
): Promise<OwnershipProblem | undefined> {
  const installation = await readInstallation(db);
  const { namespace } = installation;
  if (namespace !== undefined && namespace !== own) return otherNamespace(own, namespace);
  return storeMismatch(installation, await readMarkers(await openMarkers(stores)));
}

/** Makes the stores and the namespace those of the installation. */
export async function overwriteStoreAndNamespaceOwner(
  db: Database,
  stores: ConfiguredStores,
  namespace: string,
): Promise<void> {
  const { id } = await readInstallation(db);
  for (const { write } of await openMarkers(stores)) await write(id);
  await recordMarked(db);
  await replaceNamespace(db, namespace);
}

function otherNamespace(own: string, namespace: string): OwnershipProblem {
  return mismatch(`TEMPORAL_NAMESPACE is ${own}, and this installation uses ${namespace}`, 'TEMPORAL_NAMESPACE');
}

function storeMismatch({ id, isMarked }: Installation, found: readonly ReadMarker[]): OwnershipProblem | undefined {
  const strange = found.find(({ marker }) => marker !== undefined && marker !== id);
  if (strange !== undefined)
    return mismatch(`${strange.setting} (${strange.name}) belongs to another installation`, strange.setting);
  if (!isMarked || found.some(({ marker }) => marker === id)) return undefined;
  return mismatch(`RESULT_STORE (${found[0]?.name}) is not the store of this installation`, 'RESULT_STORE');
}

function mismatch(reason: string, setting: string): OwnershipProblem {
  return { reason, remedy: `Set ${setting} to that of the other processes, and check DATABASE_URL. ${adopt}` };
}

type OpenedMarker = StoreMarker & { readonly setting: string; readonly name: string };
type ReadMarker = OpenedMarker & { readonly marker: string | undefined };

function readMarkers(opened: readonly OpenedMarker[]): Promise<ReadMarker[]> {
  return Promise.all(opened.map(async (store) => ({ ...store, marker: await store.read() })));
}

async function openMarkers(stores: ConfiguredStores): Promise<readonly OpenedMarker[]> {
  const { resultStore, resultStoreAlso } = stores;
  const open = async (setting: string, location: StoreLocation) => {
    return { setting, name: nameOfStore(location), ...(await openStoreMarker(location, stores)) };
  };
  const also = resultStoreAlso === undefined ? [] : [await open('RESULT_STORE_ALSO', resultStoreAlso)];
  return [await open('RESULT_STORE', resultStore), ...also];
}
