import { join } from 'node:path';
import type { Config } from './config.ts';
import type { StoreLocation } from '../../media/store/store-location.ts';
import type { ModerationEndpoint } from '../../providers/moderation/moderator.ts';
import type { OwnEndpoint } from '../../platform/outbound/guard/guard.ts';
import type { TemporalTarget } from '../../temporal/connection/connect.ts';

/** Settings that a configuration may leave to `npm start`, which sets them once its servers run. */
export type SettingsFoundAtStart = {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  /** Shown to operators at this machine. */
  readonly temporalUiUrl?: string | undefined;
  /** Ports of embedded servers that no other setting contains. */
  readonly embeddedPorts: readonly number[];
  /** Folders of embedded servers by name; none by default. */
  readonly embeddedFolders?: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly resultStore: StoreLocation;
};

export type CompleteSettings = Config &
  SettingsFoundAtStart & {
    readonly publicUrl: string;
    /** A folder on a local disk for files that live as long as one attempt. */
    readonly workFolder: string;
  };

/** The settings of an API or worker process, where nothing is embedded. */
export function settingsWithNothingEmbedded(config: Config): CompleteSettings {
  const { databaseUrl, temporal, secret, resultStore } = config;
  if (databaseUrl === undefined || temporal === undefined || secret === undefined || resultStore === undefined)
    throw new Error('the configuration was not read with isExternal');
  return mergeSettingsFoundAtStart(config, { databaseUrl, temporal, embeddedPorts: [], secret, resultStore });
}

export function mergeSettingsFoundAtStart(config: Config, found: SettingsFoundAtStart): CompleteSettings {
  return {
    ...config,
    ...found,
    temporal: { ...found.temporal, payloadKeys: config.payloadKeys },
    publicUrl: config.publicUrl ?? `http://${config.host}:${config.port}`,
    workFolder: workFolderOf(config),
  };
}

export function workFolderOf({ dataFolder }: Pick<Config, 'dataFolder'>): string {
  return join(dataFolder, 'work');
}

/** The hook that checks the creates of models without moderation of their own. */
export function defaultModerationHook(settings: Config): ModerationEndpoint | undefined {
  const { moderationUrl: url, moderationShape: shape, moderationModel: model, moderationKey: key } = settings;
  if (url === undefined) return undefined;
  const { moderationTimeoutMs: timeoutMs, moderationOnError: onError, moderationConcurrency: concurrency } = settings;
  const readKey = key === undefined ? undefined : () => key;
  return { shape, url, model, readKey, timeoutMs, onError, concurrency };
}

type Sources = Pick<CompleteSettings, 'host' | 'port' | 'metricsPort' | 'databaseUrl' | 'temporal' | 'embeddedPorts'> &
  Partial<Pick<CompleteSettings, 'temporalMetricsPort'>>;

/** Addresses of this installation's servers. Requests to URLs of clients never go there. */
export function ownServerAddresses(settings: Sources): readonly OwnEndpoint[] {
  const { host, port, metricsPort, temporalMetricsPort, databaseUrl, temporal, embeddedPorts } = settings;
  const ports = [port, metricsPort, temporalMetricsPort, ...embeddedPorts].filter((one) => one !== undefined);
  const { address } = temporal.connection;
  const servers = [
    databaseEndpoint(new URL(databaseUrl)),
    ...(address === undefined ? [] : [temporalEndpoint(address)]),
  ];
  return [...ports.map((ownPort) => ({ host, port: ownPort })), ...servers];
}

/** PostgreSQL URLs may have host and port in the query. */
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
