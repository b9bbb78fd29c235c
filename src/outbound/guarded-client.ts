import { setMaxListeners } from 'node:events';
import type { AllowList } from './allow-list.ts';
import { guardedDownload, guardedGet, type DownloadAnswer, type GetAnswer, type GetOptions } from './guarded-get.ts';
import { guardedPost, type PostAnswer, type PostOptions } from './guarded-post.ts';
import { createHostLookup, type HostLookup } from './host-lookup.ts';
import { createHostSlots, type HostSlotLimits } from './host-slots.ts';
import { createKeptConnections, type KeptConnectionLimits } from './kept-connections.ts';
import type { OutboundRoom } from './outbound-room.ts';

export type GuardedClientOptions = Partial<HostSlotLimits> & {
  readonly allow: AllowList;
  /** Replaces DNS, in tests. */
  readonly lookup?: HostLookup;
  readonly lookupTimeoutMs?: number;
  /** Connections that are kept for those who want it (`keptFor`). */
  readonly kept?: Partial<KeptConnectionLimits>;
  /** For TCP and TLS with one address; a name with several gets it for each, up to four. */
  readonly connectTimeoutMs?: number;
  /** PEM certificates instead of the public authorities, in tests; operators have NODE_EXTRA_CA_CERTS. */
  readonly ca?: string;
};

/** Every method throws `OutboundError` when there was no answer; a status of 404 or 500 is an answer. */
export type GuardedClient = {
  /** Follows redirects, each checked like the first address. The body is empty unless the status is 2xx. */
  get(url: string, options: GetOptions): Promise<GetAnswer>;
  /** As `get`, but into a new file at `path`, so that many slow downloads cost no memory. Writes no file unless 2xx. */
  download(url: string, path: string, options: GetOptions): Promise<DownloadAnswer>;
  /** Follows no redirect: a 3xx is an answer. A status that came in time counts, whatever becomes of its body. */
  post(url: string, options: PostOptions): Promise<PostAnswer>;
  /** Breaks off whatever is under way (`aborted`) and waits until it is gone; later calls are `aborted` too. */
  close(): Promise<void>;
};

/** The only way out to addresses that a client gave us (design, section 7). */
export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const closing = new AbortController();
  // Every exchange under way listens to it, so a dozen of them are no leak.
  setMaxListeners(0, closing.signal);
  const room = roomOf(options, closing.signal);
  const underWay = new Set<Promise<unknown>>();
  const tracked = async <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    return await work.finally(() => underWay.delete(work));
  };
  return {
    get: (url, getOptions) => tracked(guardedGet(room, url, getOptions)),
    download: (url, path, getOptions) => tracked(guardedDownload(room, url, path, getOptions)),
    post: (url, postOptions) => tracked(guardedPost(room, url, postOptions)),
    close: async () => {
      closing.abort();
      room.connections.close();
      await Promise.allSettled(underWay);
    },
  };
}

function roomOf(options: GuardedClientOptions, closing: AbortSignal): OutboundRoom {
  const { allow, ca, kept, lookup, lookupTimeoutMs = 5000, connectTimeoutMs = 5000 } = options;
  const { maxPerHost = 16, maxWaitingPerHost = 64, maxWaitMs = 5000 } = options;
  return {
    guard: { allow, ca, lookup: lookup ?? createHostLookup(allow), lookupTimeoutMs, connectTimeoutMs },
    slots: createHostSlots({ maxPerHost, maxWaitingPerHost, maxWaitMs }),
    connections: createKeptConnections(kept),
    maxWaitMs,
    closing,
  };
}
