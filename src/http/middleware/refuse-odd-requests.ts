import { HttpFailure } from '../http-failure.ts';
import type { Step } from '../request-state.ts';

/** Far above the longest address we give out. */
const maxUrlLength = 4096;

/** Refuses what Node lets through or would answer in its own words. */
export const refuseOddRequests: Step = async (ctx, next) => {
  if (ctx.originalUrl.length > maxUrlLength) throw new HttpFailure('url_too_long');
  const { httpVersion, headers } = ctx.req;
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw new HttpFailure('malformed_request', { msg: 'the Host header is missing' });
  }
  await next();
};
