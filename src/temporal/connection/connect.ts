import { Client, type ClientInterceptors, Connection, isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';
import type { PayloadKey } from './payload-keys.ts';
import { createPayloadCodec } from './payload-codec.ts';

/** The values of Temporal's own environment variables (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TLS, API key). */
export type TemporalTarget = {
  readonly connection: Pick<NativeConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'>;
  readonly namespace: string;
  /** The first key encrypts payloads; all decrypt them. */
  readonly payloadKeys?: readonly PayloadKey[] | undefined;
};

/** Every client and worker encrypts payloads in the same way. */
export function dataConverterOf({ payloadKeys = [] }: Pick<TemporalTarget, 'payloadKeys'>) {
  return { payloadCodecs: [createPayloadCodec(payloadKeys)] };
}

export type TemporalConnection = { readonly client: Client; readonly close: () => Promise<void> };

export type ConnectOptions = {
  readonly retries?: boolean;
  readonly interceptors?: ClientInterceptors | undefined;
};

/** By default the pauses between attempts to connect grow to two minutes, and prolong an outage by as much (measured). */
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 1_000 } as const;

/**
 * Creates a client that connects on its first call. Every caller sets a deadline: the SDK's retries would otherwise hide an outage for up
 * to 40 s. With `retries` off a call fails immediately, so that the caller decides about retries.
 */
export function connectTemporal(
  { connection: options, namespace, payloadKeys }: TemporalTarget,
  { retries = true, interceptors }: ConnectOptions = {},
): TemporalConnection {
  const connection = Connection.lazy({ ...options, channelArgs, ...(!retries && { interceptors: [] }) });
  const dataConverter = dataConverterOf({ payloadKeys });
  const client = new Client({
    connection,
    namespace,
    dataConverter,
    ...(interceptors !== undefined && { interceptors }),
  });
  return { client, close: () => connection.close() };
}

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

/** Runs Temporal calls that must respond within `limitMs`. */
export function callWithin<T>(client: Client, limitMs: number, calls: () => Promise<T>): Promise<T> {
  return client.connection.withDeadline(Date.now() + limitMs, calls);
}

/** gRPC's DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED and UNAVAILABLE: the same call may succeed later. */
const unavailableCodes: readonly (number | undefined)[] = [4, 8, 14];

/** True if Temporal was unreachable or timed out; false for a call that it rejected. */
export function isUnavailable(error: unknown): boolean {
  return unavailableCodes.includes(grpcCode(error));
}

/** gRPC's NOT_FOUND. */
export function isNotFound(error: unknown): boolean {
  return grpcCode(error) === 5;
}

/** Returns the number of a gRPC status; undefined for any other error. */
export function grpcCode(error: unknown): number | undefined {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}
