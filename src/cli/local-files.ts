import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../../clients/typescript/src/index.ts';
import { CommandError } from './output.ts';

export type FileServer = { readonly url: string; close(): Promise<void> };

/** Serves one local file on loopback, so that a service on this machine can fetch it as a reference image. */
export async function serveFile(path: string): Promise<FileServer> {
  await access(path).catch(() => {
    throw new CommandError(`image ${path} cannot be read`);
  });
  const server = createServer((_request, response) => {
    createReadStream(path)
      .on('error', () => response.destroy())
      .pipe(response);
  });
  return { url: `${await listenOnLoopback(server)}/image`, close: () => closeServer(server) };
}

/** Starts a server on a free port of 127.0.0.1 and answers its base address. */
export async function listenOnLoopback(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  // A TCP server that is listening has an AddressInfo; only pipes have a string.
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

export function isUrl(image: string): boolean {
  return /^https?:\/\//i.test(image);
}

/** Downloads the video of a successful task to `path`, which appears only when it is complete. */
export async function saveVideo(client: Client, taskId: string, path: string, signal?: AbortSignal): Promise<void> {
  const { body } = await client.download(taskId, { signal });
  if (body === null) throw new CommandError('the video is empty');
  const partial = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(partial), { signal });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
