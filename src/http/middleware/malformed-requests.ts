import type { IncomingMessage } from 'node:http';
import type { Step } from '../context.ts';
import { HttpError, maxHeaders, maxUrlLength } from '../errors.ts';

/** Of two of these Node takes the first; a proxy before us may have judged the request by the second. */
const onlyOnce = ['host', 'authorization', 'content-type'] as const;

/** Refuses what Node lets through or would answer in its own words. */
export const refuseMalformed: Step = async (ctx, next) => {
  if (ctx.originalUrl.length > maxUrlLength) throw new HttpError('url_too_long');
  const { httpVersion, headers } = ctx.req;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw new HttpError('malformed_request', { msg: 'the Host header is missing' });
  }
  if (ctx.req.rawHeaders.length > 2 * maxHeaders) throw new HttpError('headers_too_large');
  const twice = onlyOnce.find((name) => (ctx.req.headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new HttpError('malformed_request', { msg: `the header ${twice} is given twice` });
  await next();
};

/**
 * Whether a proxy before us may read another length of this request than we do, which is how requests are smuggled. Node refuses
 * most of them, but takes codings under `chunked`, and chunks in HTTP/1.0 (RFC 9112, section 6.1).
 */
export function hasAmbiguousFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1');
}
