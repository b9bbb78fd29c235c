import { join } from 'node:path';
import { readConfig } from '../src/config/config.ts';
import { startPostgres, type Postgres } from '../src/embedded/postgres.ts';
import { findTemporalCli } from '../src/embedded/temporal-cli.ts';
import { startTemporal, type TemporalServer } from '../src/embedded/temporal-server.ts';

const silent = () => undefined;

/** PostgreSQL as `npm start` brings it, with fsync. */
export function benchPostgres(folder: string): Promise<Postgres> {
  return startPostgres({ folder: join(folder, 'postgres'), log: silent });
}

/** Temporal's development server as `npm start` brings it, on a folder. */
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
  return findTemporalCli({ cacheFolder, searchPath, log: silent, ...explicitPath });
}
