import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SetupError } from '../domain/errors.ts';
import type { Log } from '../log.ts';
import { retry } from '../roles/retry.ts';
import type { Settings } from '../roles/settings.ts';
import { migrateToLatest } from '../stores/migrator.ts';
import { keptSecret, lockDataFolder, openLog } from './data-folder.ts';
import { freePort } from './kept-port.ts';
import { postgresFolder, startPostgres } from './postgres.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { startTemporal } from './temporal-server.ts';

export type EmbeddedStack = {
  readonly settings: Settings;
  /** The log of the whole service: a file in the data folder, since the terminal belongs to the person who started it. */
  readonly log: Log;
  readonly logPath: string;
  /** Stops the servers that are ours and gives the data folder back. */
  stop(): Promise<void>;
};

/** A server of ours, or the address of another one. */
type Found<T> = T & { stop(): Promise<void> };

type Starting = {
  readonly config: Config;
  /** Takes sentences for the person who started the service. */
  readonly say: (message: string) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * Starts the servers that the configuration does not name: PostgreSQL without DATABASE_URL, Temporal without TEMPORAL_ADDRESS.
 * Both start at the same time, on the data folder, which this process owns from then on. Throws a sentence for the
 * operator when something is missing or the folder is in use; nothing is left running then, nor after `signal`.
 */
export async function startEmbeddedStack(
  config: Config,
  say: (message: string) => void,
  signal: AbortSignal,
): Promise<EmbeddedStack> {
  const lock = await lockDataFolder(config.dataFolder);
  const { log, path: logPath } = await openLog(config);
  const starting = { config, say, log, signal };
  const [postgres, temporal] = await Promise.allSettled([database(starting), engine(starting)]);
  const stop = async () => {
    for (const server of [temporal, postgres]) if (server.status === 'fulfilled') await server.value.stop();
    await lock.release();
  };
  try {
    if (postgres.status === 'rejected') throw postgres.reason;
    if (temporal.status === 'rejected') throw temporal.reason;
    signal.throwIfAborted();
    const secret = config.secret ?? (await keptSecret(config.dataFolder));
    // Links need the port before the API listens.
    const port = config.port === 0 ? await freePort() : config.port;
    const settings: Settings = {
      ...config,
      port,
      databaseUrl: postgres.value.url,
      ...temporal.value.settings,
      secret,
      publicUrl: config.publicUrl ?? `http://${config.host}:${port}`,
      resultStore: config.resultStore ?? join(config.dataFolder, 'results'),
      workFolder: join(config.dataFolder, 'work'),
    };
    return { settings, log, logPath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** How long a start waits for an unavailable database. */
const databaseWaitMs = 120_000;

async function database({ config, say, log, signal }: Starting): Promise<Found<{ url: string }>> {
  const server =
    config.databaseUrl === undefined
      ? await startPostgres({ folder: postgresFolder(config), log: say, signal })
      : { url: config.databaseUrl, stop: () => Promise.resolve() };
  const waited = AbortSignal.timeout(databaseWaitMs);
  try {
    await retry(
      { step: 'migrate the database', log, signal: AbortSignal.any([signal, waited]), onFirstFailure: say },
      () => migrateToLatest(server.url),
    );
    return server;
  } catch (error) {
    await server.stop();
    if (!waited.aborted) throw error;
    throw new SetupError(`the database did not answer within ${databaseWaitMs / 1000} s`, { cause: error });
  }
}

/** Without it the list is full of the rounds of `reconcile`, one for each minute. */
const tasksOnly = 'WorkflowType="videoTask"';

type TemporalSettings = Pick<Settings, 'temporal' | 'temporalUiUrl' | 'embeddedPorts'>;

async function engine({ config, say: log, signal }: Starting): Promise<Found<{ settings: TemporalSettings }>> {
  if (config.temporal !== undefined)
    return { settings: { temporal: config.temporal, embeddedPorts: [] }, stop: () => Promise.resolve() };
  const { cacheFolder, temporalCliPath: explicitPath, path: searchPath, temporalNamespace: namespace } = config;
  const cliPath = await findTemporalCli({ cacheFolder, explicitPath, searchPath, log });
  const folder = join(config.dataFolder, 'temporal');
  const { address, uiUrl, ports, stop } = await startTemporal({ cliPath, folder, namespace, log, signal });
  const settings = {
    temporal: { connection: { address }, namespace },
    temporalUiUrl: `${uiUrl}/namespaces/${namespace}/workflows?query=${encodeURIComponent(tasksOnly)}`,
    embeddedPorts: ports,
  };
  return { settings, stop };
}
