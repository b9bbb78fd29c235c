import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** So often that a shutdown is noticed long before the listener closes, also on a busy machine. */
const pollEveryMs = 50;

export type ReadinessProxy = {
  readonly baseUrl: string;
  sends(target: string): boolean;
  close(): Promise<void>;
};

/** A load balancer: sends each request to one of the servers whose `/readyz` answered 200 last, and repeats none. */
export async function startReadinessProxy(targets: readonly string[]): Promise<ReadinessProxy> {
  const ready = new Set<string>();
  const agent = new Agent({ keepAlive: true });
  const look = async (target: string) => {
    const answer = await fetch(`${target}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    if (answer?.ok === true) ready.add(target);
    else ready.delete(target);
  };
  await Promise.all(targets.map(look));
  const looking = setInterval(() => targets.forEach((target) => void look(target)), pollEveryMs);
  let turn = 0;
  const server = createServer((from, to) => {
    const open = targets.filter((target) => ready.has(target));
    const target = open[(turn += 1) % open.length];
    if (target === undefined) to.writeHead(502).end('{"code":502,"msg":"no server is ready","data":null}');
    else forward(target, agent, from, to);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    sends: (target) => ready.has(target),
    close: async () => {
      clearInterval(looking);
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
