import type { Reads, Sends } from './contract.ts';
import { readAnswer } from './read-answer.ts';
import type { CallOptions, Transport } from './transport.ts';
import { VideogenError, withIdempotencyKey } from './videogen-error.ts';
import { isTimeout, withDeadline } from './with-deadline.ts';
import { withRetries } from './with-retries.ts';

export type ReadOptions = CallOptions & {
  /** `Prefer: wait`: the longest time for which the service may hold its response. */
  readonly waitSeconds?: number | undefined;
};

export type SendOptions = CallOptions & { readonly idempotencyKey?: string | undefined };

/** The body of a request. */
export type Content = { readonly type: string; readonly bytes: string | Blob | Uint8Array<ArrayBuffer> };

/** Sends a GET with retries, and returns `data` of its response. */
export async function read<Path extends keyof Reads>(
  transport: Transport,
  path: Path,
  query: Reads[Path]['query'],
  { waitSeconds, ...call }: ReadOptions = {},
): Promise<Reads[Path]['answer']> {
  const url = new URL(transport.baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const headers: Record<string, string> = waitSeconds === undefined ? {} : { prefer: `wait=${waitSeconds}` };
  const timeoutMs = (call.timeoutMs ?? transport.defaults.timeoutMs) + 1000 * (waitSeconds ?? 0);
  return request(transport, { path, url: url.href, init: { method: 'GET', headers }, call: { ...call, timeoutMs } });
}

/** Sends a POST with retries. The body is serialized once, so that a repeated create has the same bytes. */
export async function send<Path extends keyof Sends>(
  transport: Transport,
  path: Path,
  body: Sends[Path]['body'],
  call: SendOptions = {},
): Promise<Sends[Path]['answer']> {
  return sendContent(transport, path, { type: 'application/json', bytes: JSON.stringify(body, onlyFinite) }, call);
}

export function sendContent<Path extends keyof Sends>(
  transport: Transport,
  path: Path,
  { type, bytes }: Content,
  call: SendOptions = {},
): Promise<Sends[Path]['answer']> {
  const headers: Record<string, string> = { 'content-type': type };
  if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
  const init = { method: 'POST', headers, body: bytes };
  return request(transport, { path, url: transport.baseUrl + path, init, call });
}

/** JSON would write NaN as null, which means "the default", and the task would be charged. */
function onlyFinite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name} is ${value}, not a number`);
  return value;
}

type Request = {
  readonly path: string;
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Readonly<Record<string, string>> };
  readonly call: SendOptions;
};

async function request<T>(transport: Transport, { path, url, init, call }: Request): Promise<T> {
  const { defaults, key, clock } = transport;
  // The contract's types are those of this dialect, also for a key of another one.
  const headers = { ...init.headers, authorization: `Bearer ${key}`, 'videogen-dialect': 'native' };
  const limitMs = call.timeoutMs ?? defaults.timeoutMs;
  const { data, requestId } = await withRetries(transport, call, () =>
    exchange({ url, limitMs, call }, async (signal) => {
      const response = await transport.fetch(url, { ...init, headers, redirect: 'manual', signal });
      return readAnswer(response, clock);
    }),
  );
  // Called here, because an error that it throws must not repeat the request.
  (call.onResponse ?? defaults.onResponse)?.({ path, requestId });
  // The contract's types are generated from the schemas that the service's responses are checked against.
  return data as T;
}

type Exchange = { readonly url: string; readonly limitMs: number; readonly call: SendOptions };

/** Sends one attempt. A failure without a response is `unreachable`, unless the caller aborted it. */
export async function exchange<T>(
  { url, limitMs, call: { signal, idempotencyKey } }: Exchange,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withDeadline({ limitMs, signal }, work);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof VideogenError) throw withIdempotencyKey(error, idempotencyKey);
    const reason = isTimeout(error) ? `no answer within ${limitMs / 1000} s` : reasonOf(error);
    const message = `${new URL(url).origin} cannot be reached: ${reason}`;
    throw new VideogenError('unreachable', message, { idempotencyKey, cause: error });
  }
}

/** The message of fetch is only "fetch failed"; in Node, the reason is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}
