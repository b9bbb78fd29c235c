import { createRateLimiter } from './rate-limits.ts';

/**
 * Allows for passkeys, whose sign-in takes two requests, and for the people of
 * an office, who share one address.
 */
const signInRate = { quota: 30, windowMs: 60_000 };
const sharePageRate = { quota: 60, windowMs: 60_000 };
const providerTestRate = { quota: 5, windowMs: 60_000 };
const codeRate = { quota: 10, windowMs: 60 * 60_000 };

/** The limits that no setting changes. */
export function createLimiters() {
  return {
    /** Limits sign-ins of an address. */
    signIns: createRateLimiter(signInRate),
    /** Limits the pages of share links that an address reads. */
    sharePages: createRateLimiter(sharePageRate),
    providerTests: createRateLimiter(providerTestRate),
    /** Limits invalid redemption codes of a person. */
    codeAttempts: createRateLimiter(codeRate),
  };
}
