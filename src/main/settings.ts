import { join } from 'node:path';
import type { Config } from '../config.ts';
import { ConfigError } from '../domain/errors.ts';
import { modelCatalogue } from '../domain/models.ts';
import { createTaskRequestParser } from '../domain/task-request.ts';
import { literalRefusal, type OwnEndpoint } from '../outbound/guard.ts';
import type { TemporalTarget } from '../temporal/connect.ts';

/** What a configuration may leave open; an embedded part has been started by then. */
export type FoundSettings = {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  /** For a person at this machine; undefined where it is not known. */
  readonly temporalUiUrl?: string | undefined;
  /** Ports of embedded servers that these settings do not name otherwise. */
  readonly embeddedPorts: readonly number[];
  readonly secret: string;
  /** The folder of the result store. */
  readonly resultStore: string;
};

export type Settings = Config &
  FoundSettings & {
    readonly publicUrl: string;
    /** A folder on a local disk for files that live as long as one attempt. */
    readonly workFolder: string;
  };

/** A part of the service that is running. */
export type RunningPart = {
  /** Makes proxies send requests elsewhere: `/readyz` answers 503 from now on, everything else continues. */
  readonly leave?: () => void;
  /** Drains it within a time limit; never rejects. */
  readonly close: () => Promise<void>;
};

/** The settings of an API or worker process, where nothing is embedded. Throws `ConfigError` for what is missing. */
export function externalSettings(config: Config): Settings {
  const { databaseUrl, temporal, secret, resultStore } = config;
  if (databaseUrl !== undefined && temporal !== undefined && secret !== undefined && resultStore !== undefined)
    return settingsWith(config, { databaseUrl, temporal, embeddedPorts: [], secret, resultStore });
  throw new ConfigError([
    ...(databaseUrl === undefined ? ['DATABASE_URL: must be set; only "npm start" brings a database of its own'] : []),
    ...(temporal === undefined ? ['TEMPORAL_ADDRESS: must be set; only "npm start" brings a Temporal of its own'] : []),
    ...(secret === undefined ? ['VIDEOGEN_SECRET: must be set'] : []),
    ...(resultStore === undefined ? ['RESULT_STORE: must be set, for api and workers share it'] : []),
  ]);
}

export function settingsWith(config: Config, found: FoundSettings): Settings {
  return {
    ...config,
    ...found,
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    workFolder: join(config.dataFolder, 'work'),
  };
}

/** The parser of create requests with this installation's models and allow-lists. */
export function createRequestParser({
  models,
  imageAllow,
  callbackAllow,
}: Pick<Settings, 'models' | 'imageAllow' | 'callbackAllow'>) {
  return createTaskRequestParser({
    models: modelCatalogue(models),
    refuseImageUrl: (url) => literalRefusal(url, imageAllow),
    refuseCallbackUrl: (url) => literalRefusal(url, callbackAllow),
  });
}

type Sources = Pick<Settings, 'host' | 'port' | 'metricsPort' | 'databaseUrl' | 'temporal' | 'embeddedPorts'>;

/** Addresses on which the servers of this installation listen, as far as its settings say: clients' URLs are never sent there. */
export function ownEndpoints(settings: Sources): readonly OwnEndpoint[] {
  const { host, port, metricsPort, databaseUrl, temporal, embeddedPorts } = settings;
  const ports = [port, ...(metricsPort === undefined ? [] : [metricsPort]), ...embeddedPorts];
  return [
    ...ports.map((ownPort) => ({ host, port: ownPort })),
    databaseEndpoint(new URL(databaseUrl)),
    ...(temporal.connection.address === undefined ? [] : [temporalEndpoint(temporal.connection.address)]),
  ];
}

/** Host and port may also stand in the query, as for every client of PostgreSQL. */
function databaseEndpoint({ hostname, port, searchParams }: URL): OwnEndpoint {
  return {
    host: searchParams.get('host') ?? (hostname || 'localhost'),
    port: Number(searchParams.get('port') ?? (port || 5432)),
  };
}

function temporalEndpoint(address: string): OwnEndpoint {
  const { hostname, port } = new URL(`temporal://${address.replace(/^\w+:\/\//, '')}`);
  return { host: hostname, port: Number(port || 7233) };
}
