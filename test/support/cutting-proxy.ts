import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startRestartableServer } from '../fakes/restartable-server.ts';

/**
 * `lose_request`: the connection breaks before the service has the request. `lose_answer`: after it has answered, before the client has a
 * byte. `break_answer`: in the middle of the body.
 */
export type Fate = 'pass' | 'lose_request' | 'lose_answer' | 'break_answer';

export type CuttingProxy = { readonly url: string; close(): Promise<void> };

/** Starts an HTTP proxy to `target`, a base URL on loopback, that breaks connections. */
export async function startCuttingProxy(
  target: string,
  fateOf: (request: IncomingMessage) => Fate,
): Promise<CuttingProxy> {
  const server = await startRestartableServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const fate = fateOf(incoming);
    if (fate === 'lose_request') return void response.destroy();
    const answer = await forward(target, incoming, body);
    const bytes = await buffer(answer);
    if (fate === 'lose_answer') return void response.destroy();
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    if (fate === 'pass') return void response.end(bytes);
    await breakInTheMiddle(response, bytes);
  });
  return { url: `http://${server.address}`, close: server.close };
}

function forward(target: string, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { method, url = '/', headers } = incoming;
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(url, target), { method, headers, agent: false }, resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function breakInTheMiddle(response: ServerResponse, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve) => response.write(bytes.subarray(0, bytes.length / 2), () => resolve()));
  response.destroy();
}
