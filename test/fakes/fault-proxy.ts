import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';

// A FAKE: a bad network and bad proxies between a provider and its upstream.

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type Fault = {
  /** The upstream gets the request this often; `late` is once, when the test calls `release`. */
  readonly forwarded: 0 | 1 | 2 | 'late';
  /** The upstream dies and starts again when it has answered. */
  readonly restarts?: true;
  /** The provider gets this: `refused` is no connection, `never` one without an answer; a function changes the upstream's answer. */
  readonly reply:
    | 'refused'
    | 'cut'
    | 'cut in head'
    | 'cut in body'
    | 'never'
    | 'twice'
    | ((answer: Reply | undefined) => Reply);
};

const html = (status: number) => said(status, `<html><h1>${status}</h1></html>`, { 'content-type': 'text/html' });
const strange = (body: string) => body.replace(/("(?:status|state)":\s*)"\w+"/, '$1"percolating"');

/** Each is what happens to a request, in words that continue "a create that". */
export const faults = {
  'passes a proxy': { forwarded: 1, reply: changed((body) => body) },
  'finds no listener': { forwarded: 0, reply: 'refused' },
  'is cut before the upstream reads it': { forwarded: 0, reply: 'cut' },
  'is cut after it was sent': { forwarded: 1, reply: 'cut' },
  'is cut in the head of the answer': { forwarded: 1, reply: 'cut in head' },
  'is cut in the body of the answer': { forwarded: 1, reply: 'cut in body' },
  'is cut and arrives late': { forwarded: 'late', reply: 'cut' },
  'is sent twice by a proxy': { forwarded: 2, reply: changed((body) => body) },
  'gets 500 after its acceptance': { forwarded: 1, reply: said(500, '{"error":{"code":"internal","message":"oh"}}') },
  'gets 503 of a proxy after its acceptance': { forwarded: 1, reply: said(503, 'upstream connect error') },
  'gets 408 after its acceptance': { forwarded: 1, reply: said(408, '') },
  'gets an HTML 502 after its acceptance': { forwarded: 1, reply: html(502) },
  'gets an HTML 502 before the upstream': { forwarded: 0, reply: html(502) },
  'gets an HTML 404 before the upstream': { forwarded: 0, reply: html(404) },
  'gets truncated JSON': { forwarded: 1, reply: changed((body) => body.slice(0, body.length / 2)) },
  'gets JSON of another kind': { forwarded: 1, reply: changed(() => '[]') },
  'gets an empty 200': { forwarded: 1, reply: said(200, '') },
  'gets its answer twice': { forwarded: 1, reply: 'twice' },
  'gets a strange state': { forwarded: 1, reply: changed(strange) },
  'hangs before the upstream reads it': { forwarded: 0, reply: 'never' },
  'hangs after it was sent': { forwarded: 1, reply: 'never' },
  'meets a restart of the upstream': { forwarded: 1, restarts: true, reply: 'cut' },
  'gets 429': { forwarded: 0, reply: said(429, 'slow down', { 'retry-after': '7' }) },
  'gets 401': { forwarded: 0, reply: said(401, 'no') },
  'gets 302 after its acceptance': { forwarded: 1, reply: said(302, '', { location: 'https://example.com/' }) },
  'gets a redirect': { forwarded: 0, reply: said(308, '', { location: 'https://example.com/' }) },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

type Line = { readonly method: string; readonly path: string };
type Matches = (request: Line) => boolean;

export type FaultProxy = {
  readonly baseUrl: string;
  /** Requests that have met a fault since the last `heal`. */
  met(): number;
  /** Every request that `matches` meets the fault, until `heal`; of several faults the one that was played first. */
  play(fault: Fault, matches: Matches): Promise<void>;
  /** Calls back after each request that was answered, until another one listens. */
  listen(onAnswer: (request: Line) => void): void;
  /** Ends the faults; what was held back for later stays so. */
  heal(): Promise<void>;
  /** Sends on what was held back. */
  release(): Promise<void>;
  close(): Promise<void>;
};

export async function startFaultProxy(upstream: { address: string; restart(): Promise<void> }): Promise<FaultProxy> {
  let playing: readonly { readonly fault: Fault; readonly matches: Matches }[] = [];
  let met = 0;
  let onAnswer: (request: Line) => void = () => undefined;
  const late: (() => Promise<unknown>)[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '' } = request;
    const played = playing.find(({ matches }) => matches({ method, path }));
    const isMet = played !== undefined;
    const fault = played?.fault ?? faults['passes a proxy'];
    const hold = (send: () => Promise<unknown>) => void late.push(send);
    const meeting = meet(fault, { request, response, upstream, hold });
    // The provider may time out and close its connection; the end of a test closes the proxy's.
    meeting
      .then(
        () => onAnswer({ method, path }),
        () => response.destroy(),
      )
      .finally(() => (met += isMet ? 1 : 0));
  });
  // Nothing else takes this port while connections are refused.
  const port = await reserveFreePort();
  const listen = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  await listen();
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    met: () => met,
    play: async (fault, matches) => {
      if (fault.reply === 'refused') await stop();
      playing = [...playing, { fault, matches }];
    },
    listen: (listener) => (onAnswer = listener),
    heal: async () => {
      playing = [];
      met = 0;
      if (!server.listening) await listen();
    },
    release: async () => void (await Promise.all(late.splice(0).map((send) => send()))),
    close: stop,
  };
}

type Meeting = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly upstream: { readonly address: string; restart(): Promise<void> };
  readonly hold: (send: () => Promise<unknown>) => void;
};

async function meet({ forwarded, restarts, reply }: Fault, { request, response, upstream, hold }: Meeting) {
  const body = await buffer(request);
  const send = () => forward(upstream.address, request, body);
  if (forwarded === 'late') hold(send);
  let answer: Reply | undefined;
  if (forwarded === 1 || forwarded === 2) answer = await send();
  if (forwarded === 2) answer = await send();
  if (restarts === true) await upstream.restart();
  if (typeof reply === 'function') return answerWith(response, reply(answer));
  if (reply === 'never') return;
  const whole = rawText(answer ?? said(200, '{}')(undefined));
  const { socket } = response;
  if (reply === 'twice') return socket?.end(Buffer.concat([whole, whole]));
  const part = { refused: 0, cut: 0, 'cut in head': 20, 'cut in body': whole.length - 5 }[reply];
  if (part > 0) await new Promise((resolve) => socket?.write(whole.subarray(0, part), resolve));
  // The reset may overtake what was written, unless a turn of the event loop is between them.
  await turn();
  socket?.destroy();
}

async function forward(address: string, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Reply> {
  const outgoing = httpRequest(`http://${address}${url}`, {
    method,
    headers: { ...headers, connection: 'close' },
    agent: false,
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // what 'response' carries
  const kept = Object.entries(response.headers).filter(
    ([name]) => name.startsWith('content-') || name === 'retry-after',
  );
  const shown = kept.map(([name, value]) => [name, String(value)] as const);
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(shown), body: await buffer(response) };
}

function answerWith(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
}

function rawText({ status, headers, body }: Reply): Buffer {
  const lines = Object.entries({ ...headers, 'content-length': body.length }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} OK\r\n${lines.join('\r\n')}\r\n\r\n`), body]);
}

function said(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): (answer: Reply | undefined) => Reply {
  return () => ({ status, headers, body: Buffer.from(body) });
}

/** Binary bodies survive it: Latin-1 has every byte. */
function changed(change: (body: string) => string): (answer: Reply | undefined) => Reply {
  return (answer) => {
    if (answer === undefined) throw new Error('nothing was forwarded, so there is no answer to change');
    return { ...answer, body: Buffer.from(change(answer.body.toString('latin1')), 'latin1') };
  };
}
