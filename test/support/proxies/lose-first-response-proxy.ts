import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Between a client and a server: it forwards every request, and loses responses. */
export type LosingProxy = {
  readonly url: string;
  /** May be set after the start, so that a server can have the proxy's address as its own. */
  forwardTo(url: string): void;
  /**
   * From now on, loses the first response to each body that is sent with this method and path. The client gets a 502, or by default its
   * connection breaks.
   */
  loseFirst(method: string, path: string, answer?: 502): void;
  /** Responses that were lost. */
  lost(): number;
  readonly requests: readonly ForwardedRequest[];
  close(): Promise<void>;
};

export type ForwardedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

export async function startLosingProxy(): Promise<LosingProxy> {
  const requests: ForwardedRequest[] = [];
  const known = new Set<string>();
  let target = '';
  let losing: { readonly request: string; readonly answer: 502 | undefined } | undefined;
  let lost = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request;
    const bytes = await buffer(request);
    const forwarded = { method, path, headers, body: bytes.toString() };
    requests.push(forwarded);
    const isNew = !known.has(forwarded.body);
    const isLost = losing?.request === `${method} ${path}` && isNew;
    if (isLost) known.add(forwarded.body);
    const upstream = httpRequest(target + path, { method, headers: { ...headers, connection: 'close' }, agent: false });
    upstream.end(bytes);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage]; // what 'response' carries
    const body = await buffer(answer);
    if (isLost) {
      lost += 1;
      if (losing?.answer === undefined) response.socket?.destroy();
      else response.writeHead(losing.answer, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
      return;
    }
    const { connection: _connection, 'transfer-encoding': _encoding, ...others } = answer.headers;
    response.writeHead(answer.statusCode ?? 0, { ...others, 'content-length': body.length }).end(body);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    forwardTo: (url) => (target = url),
    loseFirst: (method, path, answer) => {
      losing = { request: `${method} ${path}`, answer };
      known.clear();
    },
    lost: () => lost,
    requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
