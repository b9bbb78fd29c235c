import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { startRestartableServer } from '../../fakes/restartable-server.ts';

/**
 * `lose_request`: the connection breaks before the service has the request. `lose_answer`: after it has answered, before the client has a
 * byte. `break_answer`: in the middle of the body.
 */
export type Fate = 'pass' | 'lose_request' | 'lose_answer' | 'break_answer';

export type LossyProxy = { readonly url: string; close(): Promise<void> };

/** Starts an HTTP proxy to `target`, a base URL on loopback, that breaks connections. */
export async function startLossyProxy(target: string, fateOf: (request: IncomingMessage) => Fate): Promise<LossyProxy> {
  const server = await startRestartableServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const fate = fateOf(incoming);
    const answer = fate === 'lose_request' ? undefined : await forward(target, incoming, body);
    const bytes = answer && (await buffer(answer));
    if (answer === undefined || bytes === undefined || fate === 'lose_answer') {
      response.destroy();
      return;
    }
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    if (fate === 'pass') response.end(bytes);
    else await breakInTheMiddle(response, bytes);
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
