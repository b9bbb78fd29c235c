import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type RawAnswer = { readonly status: number; readonly body: string };

/**
 * One persistent connection that sends one request at a time. It is opened
 * again if the service has closed it while no request was running.
 */
export type Caller = { ask(request: Buffer): Promise<RawAnswer>; close(): void };

type Waiting = { readonly resolve: (answer: RawAnswer) => void; readonly reject: (error: Error) => void };

const answerLimitMs = 30_000;
const refusedPauseMs = 50;
/** A service that refuses requests for longer than this is broken, not busy. */
const refusalsLimitMs = 60_000;

let refusals = 0;

/**
 * Returns the number of requests that were refused with 429 or 503 since the
 * bench began.
 */
export function refusedRequests(): number {
  return refusals;
}

/**
 * True for 429 and 503. Pauses before it returns, as clients do before they
 * retry.
 */
export async function isRefused({ status }: RawAnswer): Promise<boolean> {
  if (status !== 429 && status !== 503) return false;
  refusals += 1;
  await delay(refusedPauseMs);
  return true;
}

/** Repeats the request until it is not refused. */
export async function askUntilTaken(caller: Caller, request: Buffer): Promise<RawAnswer> {
  for (const giveUpAt = performance.now() + refusalsLimitMs; ;) {
    const answer = await caller.ask(request);
    if (!(await isRefused(answer)) || performance.now() > giveUpAt) return answer;
  }
}

/**
 * A client that does as little as possible: load, service and servers share two
 * cores, and a full HTTP client would spend more on a request than the service.
 * It reads responses with Content-Length only, which is what the service sends.
 */
export function openCaller(baseUrl: string): Caller {
  let waiting: Waiting | undefined;
  const take = () => {
    const taken = waiting;
    waiting = undefined;
    return taken;
  };
  const opened = (): Socket => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.on('error', (error) => take()?.reject(error));
    socket.on('close', () => take()?.reject(new Error(`${baseUrl} closed the connection`)));
    socket.setTimeout(answerLimitMs, () => waiting && socket.destroy(new Error(`${baseUrl} does not answer`)));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = parse(received);
      if (answer === undefined) return;
      received = Buffer.alloc(0);
      take()?.resolve(answer);
    });
    return socket;
  };
  let socket = opened();
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        // A request on a connection that has ended would get neither a response
        // nor an error. The service ends connections that were idle for a
        // minute, which happens while the floor is measured.
        if (socket.destroyed || socket.readableEnded) socket = opened();
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => socket.destroy(),
  };
}

/** Returns the response once all of it has arrived. */
function parse(received: Buffer): RawAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const bodyBytes = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const end = headEnd + 4 + bodyBytes;
  if (received.length < end) return undefined;
  return { status: Number(head.slice(9, 12)), body: received.toString('utf8', headEnd + 4, end) };
}

/** Returns the bytes of a request, which are made once and sent many times. */
export function rawRequest(
  method: 'GET' | 'POST',
  path: string,
  { key, body }: { key?: string; body?: unknown } = {},
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: bench'];
  if (key !== undefined) lines.push(`Authorization: Bearer ${key}`);
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
