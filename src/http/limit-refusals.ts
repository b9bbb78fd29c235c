import type { Caller } from '../domain/api-key.ts';
import type { HttpDeps } from './http-deps.ts';
import { refusalHeaders } from './rate-headers.ts';
import { errorAnswerOf, HttpError } from './errors.ts';

/**
 * Counts the creates of an account that are refused for what they ask, such as 402 and 422, and refuses all of them while
 * there were too many. What is accepted or replayed does not count, nor does what another limit has refused.
 */
export async function limitRefusals<T>(
  { refusedCreates: limiter }: Pick<HttpDeps, 'refusedCreates'>,
  caller: Caller | undefined,
  create: () => Promise<T>,
): Promise<T> {
  if (limiter === undefined || caller === undefined) return create();
  const left = limiter.look(caller.accountId);
  if (left.remaining === 0) {
    throw new HttpError('too_many_refused_creates', { headers: refusalHeaders('refused-creates', limiter.rate, left) });
  }
  try {
    return await create();
  } catch (error) {
    if (isClientsFault(error)) limiter.take(caller.accountId);
    throw error;
  }
}

function isClientsFault(error: unknown): boolean {
  if (!(error instanceof HttpError)) return false;
  const { status } = errorAnswerOf(error.code);
  return status >= 400 && status < 500 && status !== 429;
}
