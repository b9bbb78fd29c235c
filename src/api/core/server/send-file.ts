import type { Stats } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import send from 'send';
import type { Context } from '../request-context-and-responses.ts';
import type { ErrorCode } from '../error-catalogue.ts';
import { HttpError } from '../http-error.ts';

const failureByStatus: Readonly<Record<number, ErrorCode>> = {
  404: 'media_missing',
  412: 'precondition_failed',
  416: 'range_not_satisfiable',
};

/**
 * Streams a file with ranges, conditional requests and HEAD; the caller sets content type and caching. Returns when the response has ended;
 * throws if it fails before anything was sent.
 */
export async function sendFile(
  ctx: Context,
  { root, path }: { readonly root: string; readonly path: string },
): Promise<void> {
  // Koa starts with 404, and `send` answers 304 only from a 200.
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

/** A suffix range longer than the file means the whole file (RFC 9110, section 14.1.2); `send` would answer 416. */
function dropWholeSuffix({ headers }: IncomingMessage, sizeBytes: number): void {
  const suffix = /^bytes=-(\d+)$/.exec(headers.range ?? '')?.[1];
  if (suffix !== undefined && Number(suffix) >= sizeBytes && Number(suffix) > 0) delete headers.range;
}

/** Files are only replaced by rename, so these three identify the content. A strong tag lets players resume. */
function strongTag({ ino, size, mtimeMs }: Stats): string {
  return `"${[ino, size, Math.floor(mtimeMs)].map((part) => part.toString(36)).join('-')}"`;
}

function sendFailure(error: unknown, sizeBytes: number): unknown {
  const code = error instanceof Error && 'status' in error ? failureByStatus[Number(error.status)] : undefined;
  if (code === undefined) return error;
  const headers = code === 'range_not_satisfiable' ? { 'Content-Range': `bytes */${sizeBytes}` } : {};
  return new HttpError(code, { headers });
}
