import { Client, Connection, isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';

/** Where Temporal is: what Temporal's own environment variables say (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TLS, API key). */
export type TemporalTarget = {
  readonly connection: Pick<NativeConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>;
  readonly namespace: string;
};

export type TemporalConnection = { readonly client: Client; readonly close: () => Promise<void> };

/** By default the pauses between attempts to connect grow to two minutes, and prolong an outage by as much (measured). */
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 1_000 } as const;

/**
 * A client that connects on its first call. Every caller sets a deadline: the SDK's retries would otherwise hide an outage for up to
 * 40 s. With `retries` off a call fails immediately, which the task starter needs to keep tasks in order of arrival.
 */
export function connectTemporal(
  { connection: options, namespace }: TemporalTarget,
  { retries = true }: { readonly retries?: boolean } = {},
): TemporalConnection {
  const connection = Connection.lazy({ ...options, channelArgs, ...(!retries && { interceptors: [] }) });
  const client = new Client({ connection, namespace });
  return { client, close: () => connection.close() };
}

/** Connects for one use. */
export async function usingTemporal<T>(
  target: TemporalTarget,
  options: { readonly retries?: boolean },
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const { client, close } = connectTemporal(target, options);
  try {
    return await use(client);
  } finally {
    await close();
  }
}

/** Runs Temporal calls that must answer within `limitMs`. */
export function within<T>(client: Client, limitMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + limitMs, calls);
}

/** gRPC's DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE: the same call may succeed later. */
const unavailableCodes: readonly number[] = [4, 8, 14];

/** True when a call failed because Temporal cannot be reached, or not in time; false for a call that it refused. */
export function isUnavailable(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && unavailableCodes.includes(cause.code);
}
