import type { Rate, RateLeft } from '../../../platform/timing/parse-rate-and-rate-left.ts';

// The fields of draft-ietf-httpapi-ratelimit-headers-10.

type Policy =
  | 'creates'
  | 'refused-creates'
  | 'reads'
  | 'bad-keys'
  | 'share-pages'
  | 'sign-ins'
  | 'codes'
  | 'provider-tests';

export const rateHeaderDocs = {
  'RateLimit-Policy': 'The limit: `q` requests per `w` seconds.',
  RateLimit: 'The rest: `r` requests now, one more in `t` seconds.',
};

export const refusalHeaderDocs = {
  ...rateHeaderDocs,
  'Retry-After': 'Seconds until the next request is allowed.',
};

export function rateHeaders(policy: Policy, { quota, windowMs }: Rate, left: RateLeft) {
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${Math.ceil(windowMs / 1000)}`,
    RateLimit: `"${policy}";r=${left.remaining};t=${left.nextSeconds}`,
  };
}

/** A share of the window. */
const maxJitter = 0.5;

/**
 * `jitter`, from 0 to 1, lengthens `Retry-After` by up to half a window. Limits of programs pass a random one, so that the clients of an
 * account do not retry in the same second.
 */
export function refusalHeaders(policy: Policy, rate: Rate, left: RateLeft, jitter = 0) {
  const jitterSeconds = Math.floor((jitter * maxJitter * rate.windowMs) / 1000);
  return { ...rateHeaders(policy, rate, left), 'Retry-After': String(left.nextSeconds + jitterSeconds) };
}
