import { createWriteStream } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { UpstreamClient } from '../../src/providers/contract.ts';

// A FAKE: stands in for the guarded client. It checks no address and has no limits but the signal and a timeout.

export function createPlainClient(baseUrl: string, headers: Readonly<Record<string, string>> = {}): UpstreamClient {
  return {
    call: async (method, path, { body, timeoutMs, signal }) => {
      const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const type = body === undefined ? {} : { 'content-type': body.contentType };
      const url = new URL(baseUrl + path);
      const response = await send({ method, url, headers: { ...headers, ...type }, signal: either }, body?.bytes);
      return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) };
    },
    download: async (path, toFile, { signal }) => {
      const response = await send({ method: 'GET', url: new URL(baseUrl + path), headers, signal });
      if (response.statusCode !== 200) {
        response.destroy();
        throw new Error(`the download answered ${response.statusCode}`);
      }
      await pipeline(response, createWriteStream(toFile), { signal });
    },
  };
}

type Outgoing = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

async function send({ url, ...options }: Outgoing, body?: string | Uint8Array): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    let wasSent = false;
    const outgoing = request(url, { ...options, agent: false });
    outgoing.once('socket', (socket) => socket.once('connect', () => (wasSent = true)));
    outgoing.on('error', (error) => reject(Object.assign(error, { wasSent })));
    outgoing.once('response', resolve);
    outgoing.end(body);
  });
}
