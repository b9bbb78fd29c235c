import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

export type CuttingProxy = { readonly url: string; readonly cuts: number; close(): Promise<void> };

/**
 * An HTTP proxy in front of a service, which loses the response to the first POST of each body: it waits for the whole response, and then
 * breaks the client's connection. The repeat of a client is served.
 */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const cut = new Set<string>();
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method, url = '', headers } = incoming;
    const sent = await text(incoming);
    const { host: _, 'transfer-encoding': __, ...forwarded } = headers;
    const response = await fetch(new URL(url, target), {
      method: method ?? 'GET',
      headers: forwarded as Record<string, string>, // clients of tests repeat no header
      ...(method === 'POST' && { body: sent }),
    });
    const body = await response.text();
    if (method !== 'POST' || cut.has(sent)) {
      outgoing.writeHead(response.status, { 'content-type': response.headers.get('content-type') ?? '' }).end(body);
      return;
    }
    cut.add(sent);
    incoming.socket.resetAndDestroy();
  };
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    get cuts() {
      return cut.size;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
