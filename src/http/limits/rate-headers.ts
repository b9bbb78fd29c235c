import type { Rate, RateLeft } from '../../domain/rate-limit.ts';

// The fields of draft-ietf-httpapi-ratelimit-headers-10.

type Policy = 'creates' | 'refused-creates' | 'reads' | 'bad-keys' | 'sign-ins';

/** For the description of an endpoint under a rate. */
export const rateAnswerHeaders = {
  'RateLimit-Policy': 'The limit: `q` requests in `w` seconds.',
  RateLimit: 'What is left: `r` requests now; one more in `t` seconds.',
};

/** For the description of a refusal by a rate. */
export const rateRefusalHeaders = {
  ...rateAnswerHeaders,
  'Retry-After': 'The seconds until there is room again.',
};

/** `t` is the time in which no more than `r` should be sent. */
export function rateHeaders(policy: Policy, { quota, windowMs }: Rate, left: RateLeft) {
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${Math.ceil(windowMs / 1000)}`,
    RateLimit: `"${policy}";r=${left.remaining};t=${left.nextSeconds}`,
  };
}

/** Of the window, so that the clients of one account do not all come back in the same second. */
const maxJitter = 0.5;

/** `Retry-After` is the time until there is room, and a random part of the window unless `random` is 0. */
export function refusalHeaders(policy: Policy, rate: Rate, left: RateLeft, random: () => number = Math.random) {
  const jitterSeconds = Math.floor((random() * maxJitter * rate.windowMs) / 1000);
  return { ...rateHeaders(policy, rate, left), 'Retry-After': String(left.nextSeconds + jitterSeconds) };
}
