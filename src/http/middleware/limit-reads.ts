import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { rateHeaders, refusalHeaders } from '../rate-headers.ts';
import type { Step, WithCaller } from '../request-state.ts';

/**
 * The rate of everything that creates no task, per account and process: exact limits are for what costs money. Comes
 * after `authenticate`.
 */
export function limitReads({ reads }: Pick<HttpDeps, 'reads'>): Step<WithCaller> {
  return async (ctx, next) => {
    if (reads !== undefined) {
      const taken = reads.take(ctx.state.caller.accountId);
      if (!taken.isAllowed) {
        throw new HttpFailure('rate_limited', {
          headers: refusalHeaders('reads', reads.rate, taken, taken.retrySeconds),
        });
      }
      ctx.set(rateHeaders('reads', reads.rate, taken));
    }
    await next();
  };
}
