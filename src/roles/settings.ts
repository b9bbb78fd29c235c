import { join } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import type { TemporalTarget } from '../temporal/connect.ts';

/** A configuration in which everything that may be embedded has been found or started. */
export type Settings = Config & {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  /** Ports of embedded servers that these settings do not name otherwise. */
  readonly embeddedPorts: readonly number[];
  readonly secret: string;
  readonly publicUrl: string;
  /** The folder of the result store. */
  readonly resultStore: string;
  /** For a person at this machine; undefined where it is not known. */
  readonly temporalUiUrl?: string | undefined;
  /** A folder on a local disk for files that live as long as one attempt. */
  readonly workFolder: string;
};

/** A part of the service that is running. */
export type Role = {
  /** Tells proxies to send requests elsewhere: `/readyz` answers 503 from now on, everything else goes on. */
  leave?(): void;
  /** Drains it within a time limit; never rejects. */
  close(): Promise<void>;
};

/** The settings of an API or worker process, where nothing is embedded. Throws `ConfigError` for what is missing. */
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
