import { join } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import type { Settings } from './settings.ts';

/** The settings of a role that runs on its own, where nothing is embedded. Throws `ConfigError` for what is missing. */
export function externalSettings(config: Config): Settings {
  const { databaseUrl, temporal, secret, resultStore } = config;
  const missing = [
    ...(databaseUrl === undefined ? ['DATABASE_URL: must be set; only "npm start" brings a database of its own'] : []),
    ...(temporal === undefined ? ['TEMPORAL_ADDRESS: must be set; only "npm start" brings a Temporal of its own'] : []),
    ...(secret === undefined ? ['VIDEOGEN_SECRET: must be set'] : []),
    ...(resultStore === undefined ? ['RESULT_STORE: must be set, for api and workers share it'] : []),
  ];
  if (databaseUrl === undefined || temporal === undefined || secret === undefined || resultStore === undefined) {
    throw new ConfigError(missing);
  }
  return {
    ...config,
    databaseUrl,
    temporal,
    embeddedPorts: [],
    secret,
    resultStore,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    workFolder: join(config.dataFolder, 'work'),
  };
}
