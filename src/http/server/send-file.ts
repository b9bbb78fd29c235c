import type { Stats } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import send from 'send';
import type { Context } from '../context.ts';
import { type ErrorCode, HttpError } from '../errors.ts';

/** What `send` reports instead of answering, because we listen for it. */
const failureByStatus: Readonly<Record<number, ErrorCode>> = {
  404: 'media_missing',
  412: 'precondition_failed',
  416: 'range_not_satisfiable',
};

/**
 * Streams a file with ranges, conditional requests and HEAD; content type and caching are the caller's. Returns once the answer is
 * out or the client has gone; throws when nothing was sent yet.
 */
export async function sendFile(
  ctx: Context,
  { root, path }: { readonly root: string; readonly path: string },
): Promise<void> {
  // `send` looks at the status to decide about 304, and Koa begins with 404.
  ctx.status = 200;
  ctx.respond = false;
  await new Promise<void>((resolve, reject) => {
    let sizeBytes = 0;
    ctx.res.once('close', resolve);
    send(ctx.req, path, { root, index: false, cacheControl: false })
      .on('file', (_path: string, stats: Stats) => {
        sizeBytes = stats.size;
        dropWholeSuffix(ctx.req, sizeBytes);
      })
      .on('headers', (_res: unknown, _path: string, stats: Stats) => ctx.set('ETag', strongTag(stats)))
      .on('error', (error: unknown) => reject(sendFailure(error, sizeBytes)))
      .on('directory', () => reject(new HttpError('media_missing')))
      .pipe(ctx.res);
  });
}

/** The last 5,000 bytes of a shorter file are all of it (RFC 9110, section 14.1.2); `send` would answer 416. */
function dropWholeSuffix({ headers }: IncomingMessage, sizeBytes: number): void {
  const suffix = /^bytes=-(\d+)$/.exec(headers.range ?? '')?.[1];
  if (suffix !== undefined && Number(suffix) >= sizeBytes && Number(suffix) > 0) delete headers.range;
}

/** Files are only ever replaced whole, by rename, so these three name one content. A strong tag lets a player resume. */
function strongTag({ ino, size, mtimeMs }: Stats): string {
  return `"${[ino, size, Math.floor(mtimeMs)].map((part) => part.toString(36)).join('-')}"`;
}

function sendFailure(error: unknown, sizeBytes: number): unknown {
  const code = error instanceof Error && 'status' in error ? failureByStatus[Number(error.status)] : undefined;
  if (code === undefined) return error;
  // For a client that asked for a part beyond the end of the file.
  const headers = code === 'range_not_satisfiable' ? { 'Content-Range': `bytes */${sizeBytes}` } : {};
  return new HttpError(code, { headers });
}
