import type { Rate, RateLeft } from '../domain/rate.ts';

type Policy = 'creates' | 'refused-creates' | 'reads' | 'bad-keys';

/** For the description of an endpoint under a rate. */
export const rateAnswerHeaders = {
  'RateLimit-Policy': 'The limit: `q` requests in `w` seconds.',
  RateLimit: 'What is left: `r` requests now; one more in `t` seconds.',
};

/** The fields of draft-ietf-httpapi-ratelimit-headers-10: `t` is the time in which no more than `r` should be sent. */
export function rateHeaders(policy: Policy, { quota, windowMs }: Rate, left: RateLeft) {
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${Math.ceil(windowMs / 1000)}`,
    RateLimit: `"${policy}";r=${left.remaining};t=${left.nextSeconds}`,
  };
}

/**
 * Those of a refusal: come back when there is room for one. `retrySeconds` is later than that when others were told to come
 * back before.
 */
export function refusalHeaders(policy: Policy, rate: Rate, left: RateLeft, retrySeconds = left.nextSeconds) {
  return { ...rateHeaders(policy, rate, left), 'Retry-After': String(retrySeconds) };
}
