import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, type ClientOptions, createClient } from '../../clients/typescript/src/index.ts';

export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** What happens to one request: an answer, or anything else that can happen to it. */
export type Step = (response: ServerResponse, request: SeenRequest) => void;

/** A service that does what its script says, one step for each request; the last step counts for all that follow. */
export type ScriptedService = {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
};

export async function startScriptedService(...script: readonly Step[]): Promise<ScriptedService> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const step = script[Math.min(seen.length, script.length - 1)];
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      step?.(response, one);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An answer in the envelope. */
export function answer(
  code: number,
  data: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Step {
  const msg = code === 200 ? 'success' : `refused with ${code}`;
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers });
    response.end(JSON.stringify({ code, msg, data }));
  };
}

/** The connection breaks before an answer. */
export const hangUp: Step = (response) => response.destroy();

/** No answer ever. */
export const silence: Step = () => {};

export type PlayedClient = { readonly client: Client; readonly sleptMs: readonly number[] };

/** A client whose pauses take no time; they are noted instead, and move its clock. Chance always says 0: no jitter. */
export function playedClient(baseUrl: string, options: Partial<ClientOptions> = {}): PlayedClient {
  const sleptMs: number[] = [];
  let nowMs = Date.parse('2026-11-01T00:00:00Z');
  const clock = {
    now: () => nowMs,
    random: () => 0,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      sleptMs.push(ms);
      nowMs += ms;
    },
  };
  return { client: createClient({ baseUrl, key: 'vg_test', clock, ...options }), sleptMs };
}
