import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Settings } from '../roles/settings.ts';
import { searchAttributeNames } from '../temporal/search-attribute-names.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { postgresFolder } from './find-postgres.ts';
import { keptPort } from './kept-port.ts';
import { keptSecret } from './kept-secret.ts';
import { startPostgres } from './postgres.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { startTemporal } from './temporal-server.ts';

export type EmbeddedStack = {
  readonly settings: Settings;
  /** Undefined when Temporal is not ours. */
  readonly temporalUiUrl: string | undefined;
  /** Stops the servers that are ours and gives the data folder back. */
  stop(): Promise<void>;
};

/** A server of ours, or the address of somebody else's. */
type Found<T> = T & { stop(): Promise<void> };

type Starting = {
  readonly config: Config;
  readonly log: (message: string) => void;
  /** Called when the server in question is on its way, at least once, and no later than it is there. */
  readonly onSpawned: () => void;
};

/**
 * Brings up whatever the configuration leaves to us: PostgreSQL without DATABASE_URL, Temporal without TEMPORAL_ADDRESS.
 * Both start at the same time, on the data folder, which this process owns from then on. Throws a sentence for the
 * operator when something is missing or the folder is in use; nothing is left running then.
 * `onUnderWay` is called once, when nothing is left to do but wait: code that is loaded before delays the servers.
 */
export async function startEmbeddedStack(
  config: Config,
  log: (message: string) => void,
  onUnderWay: () => void,
): Promise<EmbeddedStack> {
  const lock = await lockDataFolder(config.dataFolder);
  const [postgresSpawned, temporalSpawned] = [event(), event()];
  void Promise.all([postgresSpawned.happened, temporalSpawned.happened]).then(onUnderWay);
  const [postgres, temporal] = await Promise.allSettled([
    database({ config, log, onSpawned: postgresSpawned.happen }),
    engine({ config, log, onSpawned: temporalSpawned.happen }),
  ]);
  const stop = async () => {
    for (const server of [temporal, postgres]) if (server.status === 'fulfilled') await server.value.stop();
    await lock.release();
  };
  if (postgres.status === 'rejected') {
    await stop();
    throw postgres.reason;
  }
  if (temporal.status === 'rejected') {
    await stop();
    throw temporal.reason;
  }
  const secret = config.secret ?? (await keptSecret(config.dataFolder));
  // Links need the port before the API listens.
  const port = config.port === 0 ? await keptPort(undefined, undefined) : config.port;
  const settings: Settings = {
    ...config,
    port,
    databaseUrl: postgres.value.url,
    temporal: temporal.value.target,
    embeddedPorts: temporal.value.ports,
    secret,
    publicUrl: config.publicUrl ?? `http://${config.host}:${port}`,
    resultStore: config.resultStore ?? join(config.dataFolder, 'results'),
    workFolder: join(config.dataFolder, 'work'),
  };
  return { settings, temporalUiUrl: temporal.value.uiUrl, stop };
}

function event(): { readonly happened: Promise<void>; readonly happen: () => void } {
  let happen = () => {};
  const happened = new Promise<void>((resolve) => (happen = resolve));
  return { happened, happen };
}

async function database({ config, log, onSpawned }: Starting): Promise<Found<{ url: string }>> {
  const folder = postgresFolder(config);
  const server = await ownOr(config.databaseUrl, () => startPostgres({ folder, log, onSpawned })).finally(onSpawned);
  try {
    const { migrateToLatest } = await import('../stores/migrator.ts');
    await migrateToLatest(server.url);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function ownOr<T extends { url: string }>(url: string | undefined, start: () => Promise<Found<T>>) {
  return url === undefined ? await start() : { url, stop: () => Promise.resolve() };
}

/** Without it the list is full of the rounds of `reconcile`, one for each minute. */
const tasksOnly = 'WorkflowType="videoTask"';

type FoundTemporal = Found<{ target: Settings['temporal']; uiUrl: string | undefined; ports: readonly number[] }>;

async function engine({ config, log, onSpawned }: Starting): Promise<FoundTemporal> {
  if (config.temporal === undefined) return ownTemporal({ config, log, onSpawned }).finally(onSpawned);
  onSpawned();
  return { target: config.temporal, uiUrl: undefined, ports: [], stop: () => Promise.resolve() };
}

async function ownTemporal({ config, log, onSpawned }: Starting): Promise<FoundTemporal> {
  const cliPath = await findTemporalCli({
    cacheFolder: config.cacheFolder,
    searchPath: config.path,
    log,
    ...(config.temporalCliPath !== undefined && { explicitPath: config.temporalCliPath }),
  });
  const namespace = config.temporalNamespace;
  const server = await startTemporal({
    cliPath,
    folder: join(config.dataFolder, 'temporal'),
    namespace,
    searchAttributes: Object.fromEntries(Object.values(searchAttributeNames).map((name) => [name, 'Keyword'])),
    log,
    onSpawned,
  });
  return {
    target: { connection: { address: server.address }, namespace },
    uiUrl: `${server.uiUrl}/namespaces/${namespace}/workflows?query=${encodeURIComponent(tasksOnly)}`,
    ports: server.ports,
    stop: () => server.stop(),
  };
}
