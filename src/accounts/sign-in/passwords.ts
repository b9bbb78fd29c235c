import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';

/** argon2 runs in libuv's threads, which file access and DNS need, too. */
const maxConcurrent = 2;
const maxWaiting = 50;

/** Argon2id, the library's default, with OWASP's minimum. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Too many passwords wait to be hashed. This one was not verified. */
export class PasswordsBusyError extends Error {
  override readonly name = 'PasswordsBusyError';
}

const limit = pLimit(maxConcurrent);

function queued<T>(work: () => Promise<T>): Promise<T> {
  return limit.activeCount + limit.pendingCount >= maxConcurrent + maxWaiting
    ? Promise.reject(new PasswordsBusyError())
    : limit(work);
}

/** Returns a PHC string, which contains the parameters, so they may change. */
export function hashPassword(password: string): Promise<string> {
  return queued(() => hash(password, cost));
}

let dummy: Promise<string> | undefined;

/**
 * Verifies a password. Without a hash, takes the same time and returns false,
 * so that the time of a response does not show which users exist.
 */
export function verifyPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  return queued(async () => {
    dummy ??= hash('not a password of any user', cost);
    const isMatch = await verify(passwordHash ?? (await dummy), password);
    return isMatch && passwordHash !== undefined;
  });
}
