import type { Stats } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import send from 'send';
import type { LinkedFile } from '../../media/folder-result-store.ts';
import type { Context } from '../context.ts';
import { type ErrorCode, HttpError } from '../errors.ts';

/** What `send` reports instead of answering, because we listen for it. */
const failureByStatus: Readonly<Record<number, ErrorCode>> = {
  404: 'media_deleted',
  412: 'precondition_failed',
  416: 'range_not_satisfiable',
};

/**
 * Streams a file with ranges, conditional requests and HEAD; content type and caching are the caller's. Returns once
 * the answer is out or the client has gone; the file is closed either way. Throws when nothing was sent yet.
 */
export async function sendFile(ctx: Context, { root, path }: Pick<LinkedFile, 'root' | 'path'>): Promise<void> {
  // `send` looks at the status to decide about 304, and Koa begins with 404.
  ctx.status = 200;
  ctx.respond = false;
  await new Promise<void>((resolve, reject) => {
    ctx.res.once('close', resolve);
    send(ctx.req, path, { root, index: false, cacheControl: false })
      .on('file', (_path: string, stats: Stats) => {
        forgetRangeOfAnother(ctx.req, stats);
        forgetWholeSuffix(ctx.req, stats.size);
      })
      .on('headers', (_res: unknown, _path: string, stats: Stats) => ctx.set('ETag', strongTag(stats)))
      .on('error', (error: unknown) => reject(sendFailure(error)))
      .on('directory', () => reject(new HttpError('media_deleted')))
      .pipe(ctx.res);
  });
}

/**
 * A range under `If-Range` is only for a client that names this very file, by its strong tag or its exact date (RFC 9110,
 * section 13.1.5); any other gets the whole file. `send` would take a weak tag, and every later date.
 */
function forgetRangeOfAnother({ headers }: IncomingMessage, stats: Stats): void {
  const condition = headers['if-range'];
  if (typeof condition !== 'string') return;
  const isThisFile = condition.startsWith('"')
    ? condition === strongTag(stats)
    : condition === new Date(stats.mtimeMs).toUTCString();
  if (!isThisFile) delete headers.range;
}

/** "The last 5000 bytes" of a shorter file are all of it (RFC 9110, section 14.1.2); `send` would answer 416. */
function forgetWholeSuffix({ headers }: IncomingMessage, sizeBytes: number): void {
  const suffix = /^bytes=-(\d+)$/.exec(headers.range ?? '')?.[1];
  if (suffix !== undefined && Number(suffix) >= sizeBytes && Number(suffix) > 0) delete headers.range;
}

/** Files are only ever replaced whole, by rename, so these three name one content. A strong tag lets a player resume. */
function strongTag({ ino, size, mtimeMs }: Stats): string {
  return `"${[ino, size, Math.floor(mtimeMs)].map((part) => part.toString(36)).join('-')}"`;
}

function sendFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return error;
  const failure = failureByStatus[error.status];
  if (failure === undefined) return error;
  return new HttpError(failure, { headers: contentRange(error) });
}

/** The size of the whole file, for a client that asked for a part beyond its end. */
function contentRange(error: object): Readonly<Record<string, string>> {
  const headers = 'headers' in error && typeof error.headers === 'object' ? error.headers : undefined;
  const range = headers !== null && headers !== undefined && 'Content-Range' in headers ? headers['Content-Range'] : '';
  return typeof range === 'string' && range !== '' ? { 'Content-Range': range } : {};
}
