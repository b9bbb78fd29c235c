import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Settings } from '../roles/settings.ts';
import { searchAttributes } from '../temporal/engine.ts';
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

/**
 * Brings up whatever the configuration leaves to us: PostgreSQL without DATABASE_URL, Temporal without TEMPORAL_ADDRESS.
 * Both start at the same time, on the data folder, which this process owns from then on. Throws a sentence for the
 * operator when something is missing or the folder is in use; nothing is left running then.
 */
export async function startEmbeddedStack(config: Config, log: (message: string) => void): Promise<EmbeddedStack> {
  const lock = await lockDataFolder(config.dataFolder);
  const [postgres, temporal] = await Promise.allSettled([database(config, log), engine(config, log)]);
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
    secret,
    publicUrl: config.publicUrl ?? `http://${config.host}:${port}`,
    resultStore: config.resultStore ?? join(config.dataFolder, 'results'),
    workFolder: join(config.dataFolder, 'work'),
  };
  return { settings, temporalUiUrl: temporal.value.uiUrl, stop };
}

async function database(config: Config, log: (message: string) => void): Promise<Found<{ url: string }>> {
  const starting = ownOr(config.databaseUrl, () => startPostgres({ folder: postgresFolder(config), log }));
  // Loaded while the server starts; it weighs more than all the rest of a start.
  const loading = import('../stores/migrator.ts');
  const server = await starting;
  try {
    const { migrateToLatest } = await loading;
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

type FoundTemporal = Found<{ target: Settings['temporal']; uiUrl: string | undefined }>;

async function engine(config: Config, log: (message: string) => void): Promise<FoundTemporal> {
  if (config.temporal !== undefined) {
    return { target: config.temporal, uiUrl: undefined, stop: () => Promise.resolve() };
  }
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
    searchAttributes: Object.fromEntries(Object.values(searchAttributes).map((key) => [key.name, 'Keyword'])),
    log,
  });
  return {
    target: { connection: { address: server.address }, namespace },
    uiUrl: server.uiUrl,
    stop: () => server.stop(),
  };
}
