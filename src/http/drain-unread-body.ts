import type { IncomingMessage, ServerResponse } from 'node:http';

/** A client that has more than this to say does not hear our answer. */
const maxBytes = 4 * 1024 * 1024;
const maxWaitMs = 2_000;

/**
 * Reads what is left of a refused body before the answer closes the connection: closing with unread bytes makes the
 * kernel reset it, and the client would lose the answer. A connection that stays open needs no help: Node reads the
 * rest by itself, within the request timeout.
 */
export async function drainUnreadBody(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.complete || req.destroyed || res.shouldKeepAlive) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, maxWaitMs);
    let bytes = 0;
    function count(chunk: Buffer): void {
      bytes += chunk.length;
      if (bytes > maxBytes) done();
    }
    function done(): void {
      clearTimeout(timer);
      req.off('data', count).off('end', done).off('close', done);
      resolve();
    }
    req.on('data', count).once('end', done).once('close', done).resume();
  });
}
