import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { catalogueSecretReader } from '../../../src/run/config/config.ts';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { createProviderClient, type ProviderClient } from '../../../src/platform/outbound/provider-client.ts';
import type { UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { createOpenProviders } from '../../../src/providers/open-providers.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { catalogueOf, type PlacedKind } from '../../fakes/provider-kinds.ts';
import { catalogueAt, workerParts } from '../service/worker-parts.ts';
import { heldProvider } from './fake-providers.ts';
import { interruptedParts, Killed } from '../processes/dying-worker-parts.ts';

/** One process: the activities with the real adapters, and connections of its own. */
export type Life = {
  readonly parts: WorkerParts;
  /** Kills it: from now on none of its calls does anything, and no request leaves. */
  die(at: string): void;
  isDead(): boolean;
  close(): Promise<void>;
};

/** The catalogue as a worker reads it, with one kind at an address. `folder` has the files of `writeKindFiles`. */
export function catalogueWith(folder: string, placed: PlacedKind): Catalogue {
  const path = join(folder, 'catalogue.json');
  const text = JSON.stringify(catalogueOf([placed]));
  return readCatalogueOrThrow({
    path,
    readSecret: catalogueSecretReader(folder),
    readText: (file) => (file === path ? text : readFileSync(file, 'utf8')),
  });
}

export function startLife(
  db: Database,
  folder: string,
  catalogue: Catalogue,
  {
    startDeadline,
    fetchMedia,
  }: Pick<WorkerParts['watches'], 'startDeadline'> & Pick<WorkerParts['videoTools'], 'fetchMedia'>,
): Life {
  const dead = new AbortController();
  const clients: ProviderClient[] = [];
  const providers = createOpenProviders({
    catalogue: () => catalogue,
    preview: heldProvider({ onRun: () => undefined }),
    readSecret: catalogueSecretReader(folder),
    openClient: (upstream) => {
      const client = createProviderClient({ ...upstream, lookup: noNames });
      clients.push(client);
      return mortal(client, dead.signal);
    },
    warn: () => undefined,
    emit: () => undefined,
  });
  const { watches, videoTools, ...rest } = workerParts(db, folder, []);
  const clean = {
    ...rest,
    watches: { ...watches, startDeadline },
    videoTools: { ...videoTools, fetchMedia },
    catalogue: catalogueAt(catalogue.models),
    providers,
  };
  return {
    parts: interruptedParts(clean, undefined, dead).parts,
    die: (at) => dead.abort(new Killed(at)),
    isDead: () => dead.signal.aborted,
    close: async () => void (await Promise.all(clients.map((client) => client.close()))),
  };
}

const noNames = () => Promise.reject(new Error('no names here'));

/** A dead process has sent what it sent; it sends nothing more and receives nothing. */
function mortal(client: ProviderClient, dead: AbortSignal): UpstreamClient {
  const until = (signal: AbortSignal) => AbortSignal.any([signal, dead]);
  return {
    call: async (method, path, options) => {
      dead.throwIfAborted();
      return await client.call(method, path, { ...options, signal: until(options.signal) });
    },
    download: async (path, file, options) => {
      dead.throwIfAborted();
      await client.download(path, file, { ...options, signal: until(options.signal) });
    },
  };
}
