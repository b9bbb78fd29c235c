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

/** Connections that stay open between exchanges: Node's agents, with a pool key and one bound over all keys. */
export function createConnectionPool({ maxIdle = 128, maxIdleMs = 3_000 }: Partial<PoolLimits> = {}) {
  const plain = new HttpAgent({ keepAlive: true, timeout: maxIdleMs });
  // Without cached sessions, so that each connection has its certificate checked.
  const secure = new HttpsAgent({ keepAlive: true, timeout: maxIdleMs, maxCachedSessions: 0 });
  const idle = () =>
    [plain, secure]
      .flatMap(({ freeSockets }) => Object.entries(freeSockets))
      .flatMap(([poolKey, sockets = []]) => sockets.map((socket) => ({ poolKey, socket })));
  for (const agent of [plain, secure]) {
    const reuse = agent.reuseSocket.bind(agent);
    // The types leave out that it answers whether the other side will keep the connection open.
    const isKept: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
    Object.assign(agent, {
      getName: ({ poolKey = '' }: PooledRequest = {}) => poolKey,
      keepSocketAlive: (socket: Duplex) => {
        if (idle().length >= maxIdle || isKept(socket) === false) return false;
        // A byte that arrives while nothing was asked could pass as the answer to the next request.
        socket.on('data', hangUp).on('end', hangUp);
        return true;
      },
      reuseSocket: (socket: Duplex, request: ClientRequest) => {
        socket.off('data', hangUp).off('end', hangUp);
        reuse(socket, request);
      },
    });
  }
  return {
    agentFor: (protocol: string): HttpAgent => (protocol === 'https:' ? secure : plain),
    /** Closes the idle connections of a key that lead to none of these addresses, and answers when they are gone. */
    retain: async (poolKey: string, addresses: readonly string[]): Promise<void> => {
      const unwanted = idle().filter((one) => one.poolKey === poolKey && !leadsToOneOf(addresses, one.socket));
      await Promise.all(unwanted.map(({ socket }) => new Promise((gone) => socket.once('close', gone).destroy())));
    },
    close: () => [plain, secure].forEach((agent) => agent.destroy()),
  };
}

function hangUp(this: Duplex): void {
  this.destroy();
}

/** False for a socket that is not connected. */
export function leadsToOneOf(addresses: readonly string[], { remoteAddress }: Pick<Socket, 'remoteAddress'>): boolean {
  return remoteAddress !== undefined && addresses.some((address) => isSameAddress(address, remoteAddress));
}
