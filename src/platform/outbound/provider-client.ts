import type { IncomingMessage } from 'node:http';
import type { AllowList } from './guard/allow-list.ts';
import type { Answer, BodyChunkReader } from './body/read-response.ts';
import { createGuardedClient, type GuardedClientOptions } from './guarded-client.ts';
import { hostAndPortOf } from './guard/guard.ts';
import { OutboundError } from './outbound-error.ts';
import { downloadResumably, type ResumableLimits } from './resumable-download.ts';

export type ProviderClientOptions = Pick<GuardedClientOptions, 'own' | 'lookup' | 'ca'> & {
  /** A URL without a final slash. This client may connect to its origin even if that is private. */
  readonly baseUrl: string;
  /** Sent to the origin of `baseUrl`, and with downloads to `keyOrigins`. */
  readonly headers?: Headers;
  /** Secret headers for the same origins. They are created for each request, because some expire. */
  readonly credentials?: () => Headers;
  /** Secret parameters of the query, for the same origins. */
  readonly secretQuery?: () => Headers;
  /** Other origins that get headers and credentials when a result is downloaded from them. */
  readonly keyOrigins?: readonly string[];
  /** Targets that downloads may reach beside public addresses. */
  readonly allow?: AllowList;
  readonly downloadLimits?: Partial<ResumableLimits>;
};

type Headers = Readonly<Record<string, string>>;

export type RequestBody = { readonly contentType: string; readonly bytes: string | Uint8Array };

export type CallOptions = {
  readonly headers?: Headers;
  readonly body?: RequestBody | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Reads answers that are too large for the memory. */
  readonly readBody?: BodyChunkReader;
};

export type DownloadOptions = {
  readonly signal: AbortSignal;
  /** Called for every error after which the download continues. */
  readonly onBreak?: (error: OutboundError) => void;
};

export type ProviderClient = ReturnType<typeof createProviderClient>;

const maxBodyBytes = 64_000_000;

/** Long downloads of one upstream must leave room for its polls. */
const maxPerHost = 256;

/**
 * The connection of a provider to its upstream. The operator chose the upstream, so it may be in a private network; metadata addresses, our
 * own ports, and private addresses in its responses stay out of reach.
 */
export function createProviderClient(options: ProviderClientOptions) {
  const { baseUrl, headers, credentials = () => ({}), secretQuery = () => ({}), keyOrigins = [], ...others } = options;
  const { allow, downloadLimits, ...rest } = others;
  const base = new URL(baseUrl);
  const reachable = {
    // As a host also when it is an address, because a host never opens the way to a metadata address.
    hosts: [hostAndPortOf(base), ...(allow?.hosts ?? [])],
    networks: allow?.networks ?? [],
  };
  const client = createGuardedClient({ ...rest, allow: reachable, maxPerHost, maxWaitingPerHost: maxPerHost });
  const urlOf = (pathOrUrl: string) => (pathOrUrl.startsWith('/') ? baseUrl + pathOrUrl : pathOrUrl);
  return {
    /**
     * Sends one request once to the upstream's own origin, and follows no redirect. Returns any status when the whole body has
     * arrived. Throws `OutboundError` otherwise, and then `wasSent: false` proves that no byte of the request left.
     */
    call: async (
      method: string,
      pathOrUrl: string,
      { body, headers: more, ...limits }: CallOptions,
    ): Promise<Answer> => {
      const url = urlOf(pathOrUrl);
      if (!hasOrigin(url, base)) throw new OutboundError('blocked', `not of ${base.origin}`);
      if (body !== undefined && Buffer.byteLength(body.bytes) > maxBodyBytes) {
        throw new OutboundError('too_large', `a request of more than ${maxBodyBytes} bytes`, undefined, false);
      }
      const secrets: Headers = credentials();
      const query: Headers = secretQuery();
      const answer = await client.request(method, withQuery(url, query), {
        ...limits,
        headers: { ...headers, ...more, ...secrets, ...(body !== undefined && { 'content-type': body.contentType }) },
        body: body?.bytes,
      });
      return { ...answer, body: redacted(answer.body, [...Object.values(secrets), ...Object.values(query)]) };
    },
    /**
     * Writes a file, replacing that of an earlier download, and resumes after every break until the file is whole or the signal is aborted.
     * Throws when the address is not, or no longer, good for it. Redirects are followed; the credentials stay behind when one
     * leaves the upstream's origin.
     */
    download: async (pathOrUrl: string, toFile: string, how: DownloadOptions): Promise<void> => {
      const url = urlOf(pathOrUrl);
      const open = async <T>(signal: AbortSignal, range: Headers, read: (response: IncomingMessage) => Promise<T>) => {
        let isAtHome = true;
        const isTrusted = ({ origin }: URL) => origin === base.origin || keyOrigins.includes(origin);
        const headersFor = (hop: URL) => {
          isAtHome &&= isTrusted(hop);
          return { ...range, ...(isAtHome && { ...headers, ...credentials() }) };
        };
        const first = URL.canParse(url) && isTrusted(new URL(url)) ? withQuery(url, secretQuery()) : url;
        return await client.open(first, { timeoutMs: maxDownloadMs, maxRedirects: 5, signal, headersFor }, read);
      };
      await downloadResumably({ open, toFile, limits: downloadLimits, ...how });
    },
    close: client.close,
  };
}

/** The longest deadline of a task; the signal ends a download sooner. */
const maxDownloadMs = 86_400_000;

function withQuery(url: string, query: Headers): string {
  if (Object.keys(query).length === 0) return url;
  const parsed = new URL(url);
  for (const [name, value] of Object.entries(query)) parsed.searchParams.set(name, value);
  return parsed.href;
}

function hasOrigin(url: string, { origin }: URL): boolean {
  return URL.canParse(url) && new URL(url).origin === origin;
}

/** Shorter text is no secret, and could appear anywhere. */
const minSecretLength = 8;

/**
 * Removes the secrets from an answer, because upstreams repeat an invalid key in it, which operators read and the database stores. Some
 * JSON writes `/` as `\/`, and addresses encode it.
 */
function redacted(body: Buffer, credentials: readonly string[]): Buffer {
  const words = credentials.flatMap((value) => value.split(' '));
  const spellings = words.flatMap((word) => [word, word.replaceAll('/', '\\/'), encodeURIComponent(word)]);
  const secrets = spellings.filter((word) => word.length >= minSecretLength && body.includes(word));
  if (secrets.length === 0) return body;
  // Latin-1 has a character for every byte, so other data survives.
  return Buffer.from(
    secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), body.toString('latin1')),
    'latin1',
  );
}
