import type { IncomingMessage } from 'node:http';

/** Requests whose body may take as long as Node allows. */
const slow = new WeakSet<IncomingMessage>();

/**
 * Allows a large body, which takes longer on a slow line. Call it only for authenticated callers whose concurrent requests are limited, as
 * `withUploadSlot` does.
 */
export function allowSlowBody(req: IncomingMessage): void {
  slow.add(req);
}

/** Calls `onLate` when the body of a request is not complete after `timeoutMs`. */
export function callWhenBodyIsLate(req: IncomingMessage, timeoutMs: number, onLate: () => void): void {
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return;
  const timer = setTimeout(() => {
    if (!req.complete && !slow.has(req)) onLate();
  }, timeoutMs);
  req.once('close', () => clearTimeout(timer));
}
