import { join } from 'node:path';
import type { Config } from '../config/config.ts';

// The folders of `npm start` below VIDEOGEN_DATA. Each may be on a disk of its own.

export function postgresFolder({ dataFolder }: Pick<Config, 'dataFolder'>): string {
  return join(dataFolder, 'postgres');
}

export function temporalFolder({ dataFolder }: Pick<Config, 'dataFolder'>): string {
  return join(dataFolder, 'temporal');
}

/** The folders that are only written to if the servers of `npm start` run there. The log is in the data folder. */
export function embeddedFoldersByName(config: Config): Readonly<Record<string, string>> {
  return {
    'data folder': config.dataFolder,
    ...(config.databaseUrl === undefined && { database: postgresFolder(config) }),
    ...(config.temporal === undefined && { Temporal: temporalFolder(config) }),
  };
}
