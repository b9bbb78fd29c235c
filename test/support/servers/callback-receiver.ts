import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { startRestartableServer } from '../../fakes/restartable-server.ts';
import { waitFor } from '../wait-for.ts';

export type ReceivedCallback = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

export type CallbackReceiver = {
  readonly url: string;
  readonly received: readonly ReceivedCallback[];
  /** Waits until a path has received this number of callbacks. */
  waitForCallbacks(path: string, count: number): Promise<readonly ReceivedCallback[]>;
  close(): Promise<void>;
};

/** Starts a client's receiver on loopback. `answer` chooses the status; 204 by default. A GET of /image… returns `image`, or 404. */
export async function startCallbackReceiver(
  options: { answer?: (callback: ReceivedCallback) => number | Promise<number>; image?: Buffer } = {},
): Promise<CallbackReceiver> {
  const received: ReceivedCallback[] = [];
  const server = await startRestartableServer(async (request, response) => {
    if (request.method === 'GET') {
      const found = options.image !== undefined && request.url?.startsWith('/image') === true;
      response.writeHead(found ? 200 : 404, { 'content-type': 'image/png' }).end(found ? options.image : undefined);
      return;
    }
    const callback = { path: request.url ?? '', headers: request.headers, body: await text(request) };
    received.push(callback);
    response.writeHead((await options.answer?.(callback)) ?? 204).end();
  });
  return {
    url: `http://${server.address}`,
    received,
    waitForCallbacks: (path, count) =>
      waitFor(`${count} callbacks to ${path}`, () => {
        const come = received.filter((callback) => callback.path === path);
        return come.length >= count ? come : undefined;
      }),
    close: server.close,
  };
}
