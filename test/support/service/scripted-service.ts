import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Client, type ClientOptions, createClient } from '../../../clients/typescript/src/index.ts';
import { startRestartableServer } from '../../fakes/restartable-server.ts';

export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** Handles one request: responds, or fails in some way. */
export type Step = (response: ServerResponse, request: SeenRequest) => void;

/** A service that follows a script, one step for each request; the last step is repeated. */
export type ScriptedService = {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
};

export async function startScriptedService(...script: readonly Step[]): Promise<ScriptedService> {
  const seen: SeenRequest[] = [];
  const server = await startRestartableServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, body: await text(request) };
    const step = script[Math.min(seen.length, script.length - 1)];
    seen.push(one);
    step?.(response, one);
  });
  return { url: `http://${server.address}`, seen, close: server.close };
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

/** A client whose pauses take no time; they are recorded, and move its clock. Chance is always 0: no jitter. */
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
