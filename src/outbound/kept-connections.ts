import type { Connection } from './guarded-connect.ts';

/** Connections that wait for another exchange of the same kind. */
export type KeptConnections = {
  /** One that leads to one of these addresses, which the caller has looked up and checked for this very exchange. */
  take(purpose: string, addresses: readonly string[]): Connection | undefined;
  /** Keeps one over which an exchange came to its end, for a moment; it is closed when there is no room. */
  keep(purpose: string, connection: Connection): void;
  /** Closes all, and whatever is still given to it. */
  close(): void;
};

export type KeptConnectionLimits = {
  readonly maxKept: number;
  /** How long one is kept without being used: less than the five seconds after which Node's own servers hang up. */
  readonly maxIdleMs: number;
  /** From its opening on, when its certificate was checked. */
  readonly maxAgeMs: number;
};

const defaults: KeptConnectionLimits = { maxKept: 128, maxIdleMs: 3_000, maxAgeMs: 60_000 };

type Kept = Connection & { readonly purpose: string; readonly release: () => void };

/**
 * Keeps connections open between exchanges. What one may be used for again is the caller's word, `purpose`: it has to name the
 * host and port, TLS or not, and whoever must not share it with anybody else. A byte that comes while nothing was asked closes a
 * connection, for it could pass as the answer to the next request.
 */
export function createKeptConnections(limits: Partial<KeptConnectionLimits> = {}): KeptConnections {
  const { maxKept, maxIdleMs, maxAgeMs } = { ...defaults, ...limits };
  const idle = new Map<string, Set<Kept>>();
  let count = 0;
  let isClosed = false;
  const forget = (kept: Kept) => {
    const alike = idle.get(kept.purpose);
    if (alike?.delete(kept) !== true) return;
    count -= 1;
    if (alike.size === 0) idle.delete(kept.purpose);
    kept.release();
  };
  return {
    take: (purpose, addresses) => {
      const alike = [...(idle.get(purpose) ?? [])].filter(({ address }) => addresses.includes(address));
      // The one used last is the least likely to be hung up on in this moment.
      const kept = alike.findLast((connection) => isUsable(connection, maxAgeMs));
      if (kept !== undefined) forget(kept);
      return kept;
    },
    keep: (purpose, connection) => {
      if (isClosed || count >= maxKept || !isUsable(connection, maxAgeMs)) {
        connection.socket.destroy();
        return;
      }
      const kept: Kept = { ...connection, purpose, release: whileIdle(connection, maxIdleMs, () => forget(kept)) };
      idle.set(purpose, (idle.get(purpose) ?? new Set<Kept>()).add(kept));
      count += 1;
    },
    close: () => {
      isClosed = true;
      for (const { socket } of [...idle.values()].flatMap((alike) => [...alike])) socket.destroy();
    },
  };
}

function isUsable({ socket, openedAt }: Connection, maxAgeMs: number): boolean {
  return !socket.destroyed && socket.readable && socket.writable && performance.now() - openedAt < maxAgeMs;
}

/** Closes the connection when it idles too long, is hung up on, or says something; answers how to end the watch. */
function whileIdle({ socket }: Connection, maxIdleMs: number, onClosed: () => void): () => void {
  const drop = () => {
    onClosed();
    socket.destroy();
  };
  const events = ['data', 'end', 'close', 'timeout'] as const;
  for (const event of events) socket.on(event, drop);
  socket.setTimeout(maxIdleMs).unref();
  return () => {
    for (const event of events) socket.off(event, drop);
    socket.setTimeout(0).ref();
  };
}
