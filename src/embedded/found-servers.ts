import { join } from 'node:path';
import type { Config } from '../config.ts';
import { SetupError } from '../domain/errors.ts';
import type { Log } from '../log.ts';
import { retry } from '../main/retry.ts';
import { migrateToLatest } from '../stores/migrator.ts';
import { postgresFolder, startPostgres } from './postgres.ts';
import { findTemporalCli } from './temporal-cli.ts';
import { startTemporal } from './temporal-server.ts';

// What a server of ours, or the address of another one, adds to the settings.

/** Takes sentences for the person who started the service. */
export type Say = (message: string) => void;

const notOurs = () => Promise.resolve();

/** How long a start waits for an unavailable database. */
const databaseWaitMs = 120_000;

/** The database with today's schema: a PostgreSQL of our own unless the configuration names one. */
export async function findDatabase(config: Config, say: Say, log: Log, signal: AbortSignal) {
  const { url, stop } =
    config.databaseUrl === undefined
      ? await startPostgres({ folder: postgresFolder(config), log: say, signal })
      : { url: config.databaseUrl, stop: notOurs };
  const waited = AbortSignal.timeout(databaseWaitMs);
  const either = AbortSignal.any([signal, waited]);
  try {
    await retry({ step: 'migrate the database', log, signal: either, onFirstFailure: say }, () => migrateToLatest(url));
    return { settings: { databaseUrl: url }, stop };
  } catch (cause) {
    await stop();
    if (!waited.aborted) throw cause;
    throw new SetupError(`the database did not answer within ${databaseWaitMs / 1000} s`, { cause });
  }
}

/** Without it the list is full of the runs of `reconcile`, one for each minute. */
const tasksOnly = encodeURIComponent('WorkflowType="videoTask"');

/** Temporal: a server of our own unless the configuration names one. */
export async function findTemporal(config: Config, say: Say, signal: AbortSignal) {
  if (config.temporal !== undefined)
    return { settings: { temporal: config.temporal, embeddedPorts: [] }, stop: notOurs };
  const { cacheFolder, temporalCliPath: explicitPath, path: searchPath, temporalNamespace: namespace } = config;
  const cliPath = await findTemporalCli({ cacheFolder, explicitPath, searchPath, log: say });
  const folder = join(config.dataFolder, 'temporal');
  const { address, uiUrl, ports, stop } = await startTemporal({ cliPath, folder, namespace, log: say, signal });
  const settings = {
    temporal: { connection: { address }, namespace },
    temporalUiUrl: `${uiUrl}/namespaces/${namespace}/workflows?query=${tasksOnly}`,
    embeddedPorts: ports,
  };
  return { settings, stop };
}
