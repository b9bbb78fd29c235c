import type { Caller } from '../domain/api-key.ts';
import type { HttpDeps } from './http-deps.ts';
import { rateHeaders, refusalHeaders } from './rate-headers.ts';
import type { Context } from './request-state.ts';
import { HttpError } from './errors.ts';

/** The rate of everything that creates no task, per account and process: exact limits are for what costs money. */
export function limitReads(ctx: Context, { reads }: Pick<HttpDeps, 'reads'>, { accountId }: Caller): void {
  if (reads === undefined) return;
  const taken = reads.take(accountId);
  if (!taken.isAllowed) {
    throw new HttpError('rate_limited', { headers: refusalHeaders('reads', reads.rate, taken) });
  }
  ctx.set(rateHeaders('reads', reads.rate, taken));
}
