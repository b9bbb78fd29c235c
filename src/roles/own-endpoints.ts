import type { OwnEndpoint } from '../outbound/guard.ts';
import type { Settings } from './settings.ts';

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
