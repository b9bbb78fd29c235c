import type { IncomingMessage } from 'node:http';
import type { Step } from '../context.ts';
import { HttpError, maxUrlLength } from '../errors.ts';

/** Node takes the first of two of these; a proxy before us may have judged the request by the second. */
const singleHeaders = ['host', 'authorization', 'content-type'] as const;

/** Refuses what Node accepts, or would answer without an envelope. */
export const refuseMalformed: Step = async (ctx, next) => {
  if (ctx.originalUrl.length > maxUrlLength) throw new HttpError('url_too_long');
  // What follows on the connection may be the body of this request, so nothing more is read from it.
  if (hasAmbiguousFraming(ctx.req)) throw new HttpError('malformed_request', { headers: { Connection: 'close' } });
  const { httpVersion, headers, headersDistinct } = ctx.req;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw new HttpError('malformed_request', { msg: 'the Host header is missing' });
  }
  const repeated = singleHeaders.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (repeated !== undefined)
    throw new HttpError('malformed_request', { msg: `the header ${repeated} is given twice` });
  await next();
};

/**
 * Whether a proxy before us may read another length of this request than we do, which is how requests are smuggled. Node refuses
 * most of them, but takes codings under `chunked`, and chunks in HTTP/1.0 (RFC 9112, section 6.1).
 */
function hasAmbiguousFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1');
}
