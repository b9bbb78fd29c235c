import type { IncomingMessage } from 'node:http';
import getRawBody from 'raw-body';
import { HttpError } from './errors.ts';

/** The largest body that any endpoint reads. */
export const maxBodyBytes = 256 * 1024;

/** Reads a request's body, at most 256 KiB of it; how long it may take is the server's request timeout. */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  try {
    return await getRawBody(req, { limit: maxBodyBytes, length: req.headers['content-length'] ?? null });
  } catch (error) {
    throw bodyFailure(error);
  }
}

/** The client went away, before or while we read, or sent another length than it had said. */
const brokenOff: readonly string[] = ['request.aborted', 'request.size.invalid', 'stream.not.readable'];

function bodyFailure(error: unknown): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new HttpError('body_too_large');
  if (typeof type === 'string' && brokenOff.includes(type)) return new HttpError('body_unreadable');
  return error;
}
