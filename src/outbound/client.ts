import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AllowList } from './allow-list.ts';
import { type Answer, type Head, type ReadBody, readStart, readSuccess, readWhole, save } from './body.ts';
import { type ConnectionPool, createConnectionPool, type PoolLimits } from './connection-pool.ts';
import { exchange, type OutboundRequest, type Read } from './exchange.ts';
import { literalRefusal, type OwnEndpoint, targetOf } from './guard.ts';
import { checkedAddresses, createHostLookup, type HostLookup } from './host-lookup.ts';
import { createSlots, withDeadline } from './limits.ts';
import { OutboundError } from './outbound-error.ts';
import { traced } from './trace.ts';

export type GuardedClientOptions = {
  readonly allow: AllowList;
  /** Refused even when the allow-list names it. */
  readonly own?: readonly OwnEndpoint[];
  /** Exchanges with one host at the same time, callers that may wait for one, and for how long; then they are `busy`. */
  readonly maxPerHost?: number;
  readonly maxWaitingPerHost?: number;
  readonly maxWaitMs?: number;
  /** Replaces DNS, in tests. */
  readonly lookup?: HostLookup;
  readonly lookupTimeoutMs?: number;
  /** Bounds of the connections that are kept for requests with a pool key. */
  readonly poolLimits?: Partial<PoolLimits>;
  /** PEM certificates instead of the public authorities, in tests; operators have NODE_EXTRA_CA_CERTS. */
  readonly ca?: string;
};

type ExchangeOptions = {
  /** For everything: slots, look-ups, redirects and the body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

type Headers = Readonly<Record<string, string>>;

export type GetOptions = ExchangeOptions & {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** Sent to every host that a redirect leads to, so they must hold no credentials. */
  readonly headers?: Headers;
};

export type OpenOptions = ExchangeOptions & {
  readonly maxRedirects: number;
  /** Called for each hop in turn, which may get credentials of its own. */
  readonly headersFor: (url: URL) => Headers;
};

export type RequestOptions = ExchangeOptions & {
  readonly headers: Headers;
  readonly body?: string | Uint8Array | undefined;
  readonly maxBytes: number;
  readonly readBody?: ReadBody | undefined;
  /** As in `PostOptions`; without a key the request gets a connection of its own. */
  readonly poolKey?: string | undefined;
};

export type PostOptions = ExchangeOptions & {
  readonly headers: Headers;
  readonly body: string | Uint8Array;
  /** So much of the answer is read; the connection is dropped behind it. */
  readonly maxResponseBytes: number;
  /** Keeps the connection in the pool for a short time, for the next post with the same key to the same origin only. */
  readonly poolKey?: string;
};

export type GuardedClient = ReturnType<typeof createGuardedClient>;

type Unchecked = Omit<OutboundRequest, 'url' | 'addresses' | 'ca' | 'signal'> & { readonly url: string };

/** One exchange with a URL that is checked, in a slot of its host. */
type Send = <T>(request: Unchecked, signal: AbortSignal, read: Read<T>) => Promise<T>;

/**
 * The only way out to addresses that a client gave us. Every method throws `OutboundError` when there was no answer; a status of
 * 404 or 500 is an answer.
 */
export function createGuardedClient(options: GuardedClientOptions) {
  const pool = createConnectionPool(options.poolLimits);
  const send = createSend(options, pool);
  const closing = new AbortController();
  // Every exchange under way listens to it, so a dozen of them are no leak.
  setMaxListeners(0, closing.signal);
  const underWay = new Set<Promise<unknown>>();
  const run = async <T>({ timeoutMs, signal }: ExchangeOptions, work: (signal: AbortSignal) => Promise<T>) => {
    const signals = signal === undefined ? [closing.signal] : [closing.signal, signal];
    const running = withDeadline(timeoutMs, signals, work);
    underWay.add(running);
    return await running.finally(() => underWay.delete(running));
  };
  const get = <T>(url: string, { headers = {}, ...limits }: GetOptions, read: Read<T>): Promise<T> =>
    run(limits, (signal) => follow(send, url, { ...limits, headersFor: () => headers }, signal, read));
  return {
    /** Follows redirects, each checked like the first address. The body is empty unless the status is 2xx. */
    get: (url: string, limits: GetOptions): Promise<Answer> =>
      get(url, limits, (response) => readSuccess(response, limits.maxBytes)),
    /** As `get`, but into a new file at `path`, so that many slow downloads cost no memory. Writes no file unless 2xx. */
    download: (url: string, path: string, limits: GetOptions): Promise<Head> =>
      get(url, limits, (response) => save(response, path, limits.maxBytes)),
    /** As `get`, but `read` is given every answer that is no redirect. */
    open: <T>(url: string, limits: OpenOptions, read: Read<T>): Promise<T> =>
      run(limits, (signal) => follow(send, url, limits, signal, read)),
    /** Follows no redirect: a 3xx is an answer. A status that came in time counts, even when its body breaks off. */
    post: (url: string, { timeoutMs, signal: caller, maxResponseBytes, ...request }: PostOptions): Promise<Answer> =>
      run({ timeoutMs, signal: caller }, (signal) =>
        send({ method: 'POST', url, ...request }, signal, (response) => readStart(response, maxResponseBytes)),
      ),
    /** Follows no redirect either. The body is kept for every status; an answer without its whole body is none. */
    request: (
      method: string,
      url: string,
      { timeoutMs, signal: caller, maxBytes, readBody, ...request }: RequestOptions,
    ): Promise<Answer> =>
      run({ timeoutMs, signal: caller }, (signal) => {
        const headers = { ...wholeBodies, ...request.headers };
        return send(
          { method, url, ...request, headers },
          signal,
          whole(signal, (response) => readWhole(response, maxBytes, readBody)),
        );
      }),
    /** Breaks off what is under way (`aborted`) and waits until it is gone; later calls are `aborted` too. */
    close: async (): Promise<void> => {
      closing.abort();
      pool.close();
      await Promise.allSettled(underWay);
    },
  };
}

function createSend(options: GuardedClientOptions, pool: ConnectionPool): Send {
  const { allow, own = [], lookup = createHostLookup(allow), lookupTimeoutMs = 5000, ca } = options;
  const guard = { allow, own, lookup, lookupTimeoutMs };
  const { maxPerHost = 16, maxWaitingPerHost = 64, maxWaitMs = 5000 } = options;
  const slots = createSlots({ maxHeld: maxPerHost, maxWaiting: maxWaitingPerHost, maxWaitMs });
  return async ({ url: text, headers, poolKey, ...request }, signal, read) => {
    const refusal = literalRefusal(text, allow);
    if (refusal !== undefined) throw new OutboundError('blocked', `the URL ${refusal}`);
    const url = new URL(text);
    const target = targetOf(url);
    // Certificates do not know the dot of a full name.
    if (url.hostname.endsWith('.')) url.hostname = target.hostname;
    // The look-up needs the slot too, for it asks a server of the same host.
    return await slots.hold(target.hostname, signal, async () => {
      const addresses = await checkedAddresses(target, guard, signal);
      const sent = { ...request, url, headers: { 'user-agent': 'Videogen', ...headers }, addresses, ca, signal };
      return await traced(sent.method, url, (onResponse) =>
        exchange(pool, { ...sent, poolKey: poolKey && `${poolKey} ${url.origin}` }, (response) => {
          onResponse(response);
          return read(response);
        }),
      );
    });
  };
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

async function follow<T>(
  send: Send,
  first: string,
  { headersFor, maxRedirects }: OpenOptions,
  signal: AbortSignal,
  read: Read<T>,
): Promise<T> {
  let url = first;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const headers = { ...wholeBodies, ...(URL.canParse(url) && headersFor(new URL(url))) };
    const outcome = await send(
      { method: 'GET', url, headers },
      signal,
      whole(signal, async (response) => {
        if (redirectStatuses.has(response.statusCode ?? 0)) return { location: locationOf(response, url) };
        return { answer: await read(response) };
      }),
    );
    if ('answer' in outcome) return outcome.answer;
    url = outcome.location;
  }
  throw new OutboundError('redirect', `more than ${maxRedirects} redirects`);
}

/** Bodies are asked for as they are: unpacked ones could be a thousand times larger than what `maxBytes` counts. */
const wholeBodies = { 'accept-encoding': 'identity' } as const;

/** A body without a length ends like a whole one when the connection is destroyed. */
function whole<T>(signal: AbortSignal, read: Read<T>): Read<T> {
  return async (response) => {
    const answer = await read(response);
    signal.throwIfAborted();
    return answer;
  };
}

/** A location that is no URL stays as it is: the check of the next hop refuses it. */
function locationOf({ headers: { location }, statusCode }: IncomingMessage, base: string): string {
  if (location === undefined) throw new OutboundError('redirect', `status ${statusCode} without a location`);
  return URL.canParse(location, base) ? new URL(location, base).href : location;
}
