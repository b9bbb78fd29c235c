import { Agent as HttpAgent, type ClientRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket, TcpSocketConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { isSameAddress } from './guard.ts';

/** Options of a request; only requests with the same pool key use one connection after each other. */
export type PooledRequest = RequestOptions &
  Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> & { readonly poolKey?: string };

export type PoolLimits = {
  readonly maxIdle: number;
  /** How long a connection may wait for its next exchange: less than the five seconds after which Node's servers close it. */
  readonly maxIdleMs: number;
};

export type ConnectionPool = ReturnType<typeof createConnectionPool>;

/**
 * Connections that stay open between exchanges. Node's agents keep them; the pool key, the bound over all keys and the watch over
 * idle ones are ours.
 */
export function createConnectionPool({ maxIdle = 128, maxIdleMs = 3_000 }: Partial<PoolLimits> = {}) {
  const watches = new Map<Duplex, () => void>();
  /** A byte that arrives while nothing was asked closes a connection: it could pass as the answer to the next request. */
  const watch = (socket: Duplex) => {
    const close = () => void socket.destroy();
    const unwatch = () => {
      watches.delete(socket);
      socket.off('data', close).off('end', close).off('close', unwatch);
    };
    watches.set(socket, unwatch);
    socket.on('data', close).on('end', close).on('close', unwatch);
  };
  const pooled = <A extends HttpAgent>(agent: A): A => {
    const reuse = agent.reuseSocket.bind(agent);
    // The types leave out that it answers whether the other side will keep the connection open.
    const isKept: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
    return Object.assign(agent, {
      getName: ({ poolKey = '' }: PooledRequest = {}) => poolKey,
      keepSocketAlive: (socket: Duplex) => {
        if (watches.size >= maxIdle || isKept(socket) === false) return false;
        watch(socket);
        return true;
      },
      reuseSocket: (socket: Duplex, request: ClientRequest) => {
        watches.get(socket)?.();
        reuse(socket, request);
      },
    });
  };
  const plain = pooled(new HttpAgent({ keepAlive: true, timeout: maxIdleMs }));
  // Without cached sessions, so that each connection has its certificate checked.
  const secure = pooled(new HttpsAgent({ keepAlive: true, timeout: maxIdleMs, maxCachedSessions: 0 }));
  return {
    agentFor: (protocol: string): HttpAgent => (protocol === 'https:' ? secure : plain),
    /** Closes the idle connections of a key that lead to none of these addresses, and answers when they are gone. */
    retain: async (poolKey: string, addresses: readonly string[]): Promise<void> => {
      const sockets = [plain, secure].flatMap(({ freeSockets }) => freeSockets[poolKey] ?? []);
      const unwanted = sockets.filter((socket) => !leadsToOneOf(addresses, socket));
      await Promise.all(unwanted.map((socket) => new Promise((resolve) => socket.once('close', resolve).destroy())));
    },
    close: () => [plain, secure].forEach((agent) => agent.destroy()),
  };
}

/** False for a socket that is not connected. */
export function leadsToOneOf(addresses: readonly string[], { remoteAddress }: Pick<Socket, 'remoteAddress'>): boolean {
  return remoteAddress !== undefined && addresses.some((address) => isSameAddress(address, remoteAddress));
}
