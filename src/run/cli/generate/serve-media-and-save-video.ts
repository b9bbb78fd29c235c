import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../../../../clients/typescript/src/index.ts';
import { CommandError } from '../command-output-and-errors.ts';

export type LocalServer = { readonly url: string; readonly close: () => Promise<void> };

/** Serves a local file on loopback, so that a service on this machine can fetch it as reference media. */
export async function serveFile(path: string): Promise<LocalServer> {
  await access(path).catch(() => {
    throw new CommandError(`cannot read ${path}`);
  });
  const { url, close } = await serveOnLoopback((_request, response) => {
    createReadStream(path)
      .on('error', () => response.destroy())
      .pipe(response);
  });
  return { url: `${url}/file`, close };
}

/** Starts a server on a free port of 127.0.0.1. */
export async function serveOnLoopback(listener: RequestListener): Promise<LocalServer> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Only pipes have a string.
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.close().closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

export function isUrl(image: string): boolean {
  return /^https?:\/\//i.test(image);
}

/** Downloads the video of a successful task to `path`, which appears only when it is complete. */
export async function saveVideo(client: Client, taskId: string, path: string, signal?: AbortSignal): Promise<void> {
  const { body } = await client.download(taskId, { signal });
  if (body === null) throw new CommandError('the downloaded video is empty');
  const partial = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(partial), { signal });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
