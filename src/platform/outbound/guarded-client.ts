import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AllowList } from './guard/allow-list.ts';
import {
  type Answer,
  type ResponseHead,
  type AnswerWithIsPublic,
  type BodyChunkReader,
  readBodyStart,
  readBodyIfSuccess,
  readWholeBody,
  saveBodyIfSuccess,
} from './body/read-response.ts';
import { sendToCheckedAddresses, type OutboundRequest, type ResponseReader } from './send-request.ts';
import { isReachableByAll, urlRefusal, type OwnEndpoint, hostAndPortOf } from './guard/guard.ts';
import { checkedAddresses, createDnsOrSystemLookup, type UncheckedHostLookup } from './guard/host-lookup.ts';
import { createSlotsPerKey, runWithDeadline } from './deadlines-and-slots.ts';
import { OutboundError } from './outbound-error.ts';
import { withSpan } from './request-span.ts';

export type GuardedClientOptions = {
  readonly allow: AllowList;
  /** Rejected even when the allow-list names it. */
  readonly own?: readonly OwnEndpoint[];
  /** Concurrent exchanges with one host, callers that may wait for one, and their time limit; then they are `busy`. */
  readonly maxPerHost?: number;
  readonly maxWaitingPerHost?: number;
  readonly maxWaitMs?: number;
  /** The header that receivers get. */
  readonly userAgent?: string;
  /** Replaces DNS, in tests. */
  readonly lookup?: UncheckedHostLookup;
  readonly lookupTimeoutMs?: number;
  /** PEM certificates instead of the public authorities, in tests; operators have NODE_EXTRA_CA_CERTS. */
  readonly ca?: string;
};

type ExchangeOptions = {
  /** Includes slots, look-ups, redirects and the body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

type Headers = Readonly<Record<string, string>>;

export type GetOptions = ExchangeOptions & {
  readonly maxBytes: number;
  readonly maxRedirects: number;
  /** Sent to every host that a redirect leads to, so they must contain no credentials. */
  readonly headers?: Headers;
};

export type OpenOptions = ExchangeOptions & {
  readonly maxRedirects: number;
  /** Returns the headers of each hop, which may contain credentials for it. */
  readonly headersFor: (url: URL) => Headers;
};

export type GuardedRequestOptions = ExchangeOptions & {
  readonly headers: Headers;
  readonly body?: string | Uint8Array | undefined;
  readonly maxBytes: number;
  readonly readBody?: BodyChunkReader | undefined;
};

export type PostOptions = ExchangeOptions & {
  readonly headers: Headers;
  readonly body: string | Uint8Array;
  /** The rest of the response is not read. */
  readonly maxResponseBytes: number;
};

export type GuardedClient = ReturnType<typeof createGuardedClient>;

type Unchecked = Omit<OutboundRequest, 'url' | 'addresses' | 'ca' | 'signal'> & {
  readonly url: string;
  /** Receives whether any client could reach the address, before it is connected to. */
  readonly onChecked?: (isPublic: boolean) => void;
};

/** One exchange with a checked URL, in a slot of its host. */
type Send = <T>(request: Unchecked, signal: AbortSignal, read: ResponseReader<T>) => Promise<T>;

/**
 * The only way out to addresses that an API user gave us. Every method throws `OutboundError` when there was no response; a status of
 * 404 or 500 is a response.
 */
export function createGuardedClient(options: GuardedClientOptions) {
  const send = createSend(options);
  const closing = new AbortController();
  // Every exchange adds a listener, so many of them are no leak.
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<unknown>>();
  const run = async <T>({ timeoutMs, signal }: ExchangeOptions, work: (signal: AbortSignal) => Promise<T>) => {
    const signals = signal === undefined ? [closing.signal] : [closing.signal, signal];
    const one = runWithDeadline(timeoutMs, signals, work);
    running.add(one);
    return await one.finally(() => running.delete(one));
  };
  const get = <T>(url: string, { headers = {}, ...limits }: GetOptions, read: ResponseReader<T>): Promise<T> =>
    run(limits, (signal) => follow(send, url, { ...limits, headersFor: () => headers }, signal, read));
  return {
    /** Follows redirects, each checked like the first address. The body is empty unless the status is 2xx. */
    get: (url: string, limits: GetOptions): Promise<Answer> =>
      get(url, limits, (response) => readBodyIfSuccess(response, limits.maxBytes)),
    /** Like `get`, but writes the body of a 2xx to a new file at `path`, so that slow downloads need no memory. */
    download: (url: string, path: string, limits: GetOptions): Promise<ResponseHead> =>
      get(url, limits, (response) => saveBodyIfSuccess(response, path, limits.maxBytes)),
    /** Like `get`, but `read` receives every response that is no redirect. */
    open: <T>(url: string, limits: OpenOptions, read: ResponseReader<T>): Promise<T> =>
      run(limits, (signal) => follow(send, url, limits, signal, read)),
    /** Follows no redirect. A status that arrived in time counts, even when its body is cut off. */
    post: (
      url: string,
      { timeoutMs, signal: caller, maxResponseBytes, ...request }: PostOptions,
    ): Promise<AnswerWithIsPublic> => {
      let isPublic = false;
      const onChecked = (found: boolean) => void (isPublic = found);
      const posting = run({ timeoutMs, signal: caller }, (signal) =>
        send({ method: 'POST', url, onChecked, ...request }, signal, async (response) => {
          // Read the address first: a closed socket no longer has one.
          const { remoteAddress = '' } = response.socket;
          const answer = await readBodyStart(response, maxResponseBytes);
          return { ...answer, isPublic: isReachableByAll(remoteAddress, hostAndPortOf(new URL(url))) };
        }),
      );
      return posting.catch((error: unknown) => {
        if (error instanceof OutboundError) error.isPublic = isPublic;
        throw error;
      });
    },
    /** Follows no redirect. Reads the body of every status; a response whose body is cut off is an error. */
    request: (
      method: string,
      url: string,
      { timeoutMs, signal: caller, maxBytes, readBody, ...request }: GuardedRequestOptions,
    ): Promise<Answer> =>
      run({ timeoutMs, signal: caller }, (signal) => {
        const headers = { ...identity, ...request.headers };
        const read = whole(signal, (response) => readWholeBody(response, maxBytes, readBody));
        return send({ method, url, ...request, headers }, signal, read);
      }),
    /** Aborts what is running (`aborted`) and waits for its end; later calls are `aborted` too. */
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

function createSend(options: GuardedClientOptions): Send {
  const {
    allow,
    own = [],
    lookup = createDnsOrSystemLookup(allow),
    lookupTimeoutMs = 5000,
    ca,
    userAgent = 'Videogen',
  } = options;
  const guard = { allow, own, lookup, lookupTimeoutMs };
  const { maxPerHost = 16, maxWaitingPerHost = 64, maxWaitMs = 5000 } = options;
  const slots = createSlotsPerKey({ maxHeld: maxPerHost, maxWaiting: maxWaitingPerHost, maxWaitMs });
  return async ({ url: text, headers, onChecked, ...request }, signal, read) => {
    const refusal = urlRefusal(text, allow);
    if (refusal !== undefined) throw new OutboundError('blocked', `the URL ${refusal}`);
    const url = new URL(text);
    const target = hostAndPortOf(url);
    // Certificates do not contain the final dot of a full name.
    if (url.hostname.endsWith('.')) url.hostname = target.hostname;
    // The look-up needs the slot too, because it queries a server of the same host.
    return await slots.hold(target.hostname, signal, async () => {
      const addresses = await checkedAddresses(target, guard, signal);
      onChecked?.(addresses.every((address) => isReachableByAll(address, target)));
      const checked = { ...request, url, headers: { 'user-agent': userAgent, ...headers }, addresses, ca, signal };
      return await withSpan(checked.method, url, (onResponse) =>
        sendToCheckedAddresses(checked, (response) => {
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
  read: ResponseReader<T>,
): Promise<T> {
  let url = first;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const headers = { ...identity, ...(URL.canParse(url) && headersFor(new URL(url))) };
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

/** A compressed body costs time to decode. Some servers send one nevertheless, see `content-encoding.ts`. */
const identity = { 'accept-encoding': 'identity' } as const;

/** A body without a length ends like a complete one when the connection is destroyed. */
function whole<T>(signal: AbortSignal, read: ResponseReader<T>): ResponseReader<T> {
  return async (response) => {
    const answer = await read(response);
    signal.throwIfAborted();
    return answer;
  };
}

/** An invalid location stays unchanged: the check of the next hop rejects it. */
function locationOf({ headers: { location }, statusCode }: IncomingMessage, base: string): string {
  if (location === undefined) throw new OutboundError('redirect', `status ${statusCode} without a location`);
  return URL.canParse(location, base) ? new URL(location, base).href : location;
}
