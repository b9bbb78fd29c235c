import type { IncomingMessage } from 'node:http';
import type { AppMiddleware } from '../request-context-and-responses.ts';
import { HttpError } from '../http-error.ts';
import { maxUrlLength } from '../request-sizes.ts';

/** If one of these headers is sent twice, Node uses the first, and a proxy in front may have used the second. */
const singleHeaders: readonly string[] = ['host', 'authorization', 'content-type'];

/** Refuses requests that Node accepts, or would refuse without an envelope. */
export const refuseMalformed: AppMiddleware = async (ctx, next) => {
  if (ctx.originalUrl.length > maxUrlLength) throw new HttpError('url_too_long');
  // The next bytes on the connection may belong to this body, so it is closed.
  if (hasAmbiguousFraming(ctx.req)) throw new HttpError('malformed_request', { headers: { Connection: 'close' } });
  const { httpVersion, headers } = ctx.req;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw new HttpError('malformed_request', { msg: 'the Host header is missing' });
  }
  const repeated = repeatedHeader(ctx.req);
  if (repeated !== undefined)
    throw new HttpError('malformed_request', { msg: `the header ${repeated} is given twice` });
  await next();
};

function repeatedHeader({ rawHeaders }: IncomingMessage): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (seen.has(name) && singleHeaders.includes(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/**
 * A proxy in front may read another length than we do, and so let requests be smuggled. Node refuses most of these, but accepts codings
 * under `chunked`, and chunks in HTTP/1.0 (RFC 9112, section 6.1).
 */
function hasAmbiguousFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1');
}
