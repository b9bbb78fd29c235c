import { Client, Connection } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';

/** Where Temporal is: what Temporal's own environment variables say (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TLS, API key). */
export type TemporalTarget = {
  readonly connection: Pick<NativeConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>;
  readonly namespace: string;
};

export type TemporalConnection = { readonly client: Client; readonly close: () => Promise<void> };

/** By default pauses between two tries to connect grow to two minutes, and an outage would end so much later for us (measured). */
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 1_000 } as const;

/**
 * A client that connects on its first call, so that the API starts, and accepts tasks, while Temporal is away. Every
 * caller sets a deadline of its own: the SDK's retries would otherwise hide an outage for up to 40 s. With `retries` off a
 * failure is known at once, which the starter of tasks needs to keep them in order of arrival.
 */
export function connectTemporal(
  { connection: options, namespace }: TemporalTarget,
  { retries = true }: { readonly retries?: boolean } = {},
): TemporalConnection {
  const connection = Connection.lazy({ ...options, channelArgs, ...(!retries && { interceptors: [] }) });
  const client = new Client({ connection, namespace });
  return { client, close: () => connection.close() };
}

/** Runs Temporal calls that must answer within `limitMs`. */
export function within<T>(client: Client, limitMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + limitMs, calls);
}
