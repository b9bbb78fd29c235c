import { readAnswer } from './read-answer.ts';
import type { CallOptions, Transport } from './transport.ts';
import { VideogenError } from './videogen-error.ts';
import { isTimeout, withDeadline } from './with-deadline.ts';
import { withRetries } from './with-retries.ts';

export type Call = CallOptions & {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  /** `Prefer: wait`: the longest time for which the service may hold its response. */
  readonly waitSeconds?: number | undefined;
};

/**
 * Sends one call with retries, and returns its `data`. Every call is safe to repeat: it reads, cancels, or creates with
 * an idempotency key.
 */
export async function send<T>(transport: Transport, call: Call): Promise<T> {
  const request = requestOf(transport, call);
  const limitMs = transport.timeoutMs + 1000 * (call.waitSeconds ?? 0);
  const data = await withRetries(transport, call, () =>
    exchange({ url: request.url, limitMs, call }, async (signal) => {
      const response = await transport.fetch(request.url, { ...request.init, signal });
      return readAnswer(response, transport.clock);
    }),
  );
  // The contract's types are generated from the schemas that the service's responses are checked against.
  return data as T;
}

/** Built once for all attempts, so that a repeated create has the same bytes. Throws a TypeError for an invalid value. */
function requestOf({ baseUrl, key }: Transport, call: Call): { readonly url: string; readonly init: RequestInit } {
  const url = new URL(baseUrl + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  // The contract's types are those of this dialect, also for a key of another one.
  const headers = new Headers({ authorization: `Bearer ${key}`, 'videogen-dialect': 'native' });
  if (call.idempotencyKey !== undefined) headers.set('idempotency-key', call.idempotencyKey);
  if (call.waitSeconds !== undefined) headers.set('prefer', `wait=${call.waitSeconds}`);
  const init: RequestInit = { method: call.method, headers, redirect: 'manual' };
  if (call.body === undefined) return { url: url.href, init };
  headers.set('content-type', 'application/json');
  return { url: url.href, init: { ...init, body: JSON.stringify(call.body, onlyFinite) } };
}

/** JSON would write NaN as null, which means "the default", and the task would be charged. */
function onlyFinite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}, not a number`);
  return value;
}

type Exchange = {
  readonly url: string;
  readonly limitMs: number;
  readonly call: CallOptions & Pick<Call, 'idempotencyKey'>;
};

/** Sends one attempt. A failure without a response is `unreachable`, unless the caller aborted it. */
export async function exchange<T>(
  { url, limitMs, call: { signal, idempotencyKey } }: Exchange,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withDeadline({ limitMs, signal }, work);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof VideogenError) throw withKey(error, idempotencyKey);
    const reason = isTimeout(error) ? `no answer within ${limitMs / 1000} s` : reasonOf(error);
    const message = `${new URL(url).origin} cannot be reached: ${reason}`;
    throw new VideogenError('unreachable', message, { idempotencyKey, cause: error });
  }
}

function withKey(error: VideogenError, idempotencyKey: string | undefined): VideogenError {
  return idempotencyKey === undefined
    ? error
    : new VideogenError(error.kind, error.message, { ...error, idempotencyKey });
}

/** The message of fetch is only "fetch failed"; in Node, the reason is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
