import { failures } from '../failures.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { refusalHeaders } from '../rate-headers.ts';
import type { Step, WithCaller } from '../request-state.ts';

/**
 * Counts the creates of an account that are refused for what they ask, such as 402 and 422, and refuses all of them while
 * there were too many. What is accepted or replayed does not count, nor does what another limit has refused. Comes after
 * `authenticate`.
 */
export function limitRefusals({ refusedCreates: limiter }: Pick<HttpDeps, 'refusedCreates'>): Step<WithCaller> {
  if (limiter === undefined) return (_ctx, next) => next();
  return async (ctx, next) => {
    const { accountId } = ctx.state.caller;
    const left = limiter.look(accountId);
    if (left.remaining === 0) {
      throw new HttpFailure('too_many_refused', { headers: refusalHeaders('refused-creates', limiter.rate, left) });
    }
    try {
      await next();
    } catch (error) {
      if (isClientsFault(error)) limiter.take(accountId);
      throw error;
    }
  };
}

function isClientsFault(error: unknown): boolean {
  if (!(error instanceof HttpFailure)) return false;
  const { status } = failures[error.failure];
  return status >= 400 && status < 500 && status !== 429;
}
