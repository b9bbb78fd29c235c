import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../wait-for.ts';

const pauseBetweenPollsMs = 50;

export type ReadinessProxy = {
  readonly baseUrl: string;
  sends(target: string): boolean;
  /** Resolves when the server is not ready, and every request that it was sent has been answered. */
  left(target: string): Promise<void>;
  close(): Promise<void>;
};

/** A load balancer: sends each request to one of the servers whose `/readyz` answered 200 last, and repeats none. */
export async function startReadinessProxy(targets: readonly string[]): Promise<ReadinessProxy> {
  const ready = new Set<string>();
  const running = new Map<string, number>();
  const count = (target: string, change: number) => running.set(target, (running.get(target) ?? 0) + change);
  const agent = new Agent({ keepAlive: true });
  const closing = new AbortController();
  const poll = async (target: string) => {
    // A slow answer is an answer, and the next poll comes after it.
    const answer = await fetch(`${target}/readyz`, { signal: closing.signal }).catch(() => undefined);
    if (answer?.ok === true) ready.add(target);
    else ready.delete(target);
    await answer?.arrayBuffer().catch(() => undefined);
  };
  const keepPolling = async (target: string) => {
    for (; !closing.signal.aborted; await pause(pauseBetweenPollsMs)) await poll(target);
  };
  await Promise.all(targets.map(poll));
  const polling = targets.map(keepPolling);
  let turn = 0;
  const server = createServer((from, to) => {
    const open = targets.filter((target) => ready.has(target));
    const target = open[(turn += 1) % open.length];
    if (target === undefined) {
      to.writeHead(502).end('{"code":502,"msg":"no server is ready","data":null}');
      return;
    }
    count(target, 1);
    to.once('close', () => count(target, -1));
    forward(target, agent, from, to);
  });
  // It closes no idle connection on which the next request of a client may be under way.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    sends: (target) => ready.has(target),
    left: async (target) => {
      const isLeft = () => (!ready.has(target) && (running.get(target) ?? 0) === 0 ? true : undefined);
      await waitFor(`no request to ${target}`, isLeft);
    },
    close: async () => {
      closing.abort();
      await Promise.all(polling);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(target: string, agent: Agent, from: IncomingMessage, to: ServerResponse): void {
  const { method, url, headers } = from;
  const onward = request(new URL(url ?? '/', target), { method, headers, agent }, (answer) => {
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(to);
  });
  onward.on('error', (error) => to.writeHead(502).end(JSON.stringify({ code: 502, msg: error.message, data: null })));
  from.pipe(onward);
}
