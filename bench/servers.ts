import { join } from 'node:path';
import { readConfig } from '../src/run/config/config.ts';
import { startPostgres, type PostgresServer } from '../src/run/embedded/postgres/postgres-server.ts';
import { findOrDownloadTemporalCli } from '../src/run/embedded/temporal/temporal-cli.ts';
import { startTemporal, type TemporalServer } from '../src/run/embedded/temporal/temporal-server.ts';

const silent = () => undefined;

/** Starts PostgreSQL as `npm start` does, with fsync. */
export function benchPostgres(folder: string): Promise<PostgresServer> {
  return startPostgres({ folder: join(folder, 'postgres'), log: silent });
}

/** Starts Temporal's development server on a folder, as `npm start` does. */
export async function benchTemporal(folder: string): Promise<TemporalServer> {
  return startTemporal({
    cliPath: await benchTemporalCli(),
    folder: join(folder, 'temporal'),
    namespace: 'default',
    log: silent,
  });
}

export function benchTemporalCli(): Promise<string> {
  const { cacheFolder, path: searchPath, temporalCliPath } = readConfig();
  const explicitPath = temporalCliPath === undefined ? {} : { explicitPath: temporalCliPath };
  return findOrDownloadTemporalCli({ cacheFolder, searchPath, log: silent, ...explicitPath });
}
