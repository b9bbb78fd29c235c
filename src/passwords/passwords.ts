import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';

// The only door to argon2. It works in the threads that files and names are looked up with, so few hashes run at a time.

const maxAtOnce = 2;
const maxWaiting = 50;

/** Argon2id, which is the default of the library, with the least that OWASP asks for. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Too many passwords wait to be hashed: nothing was checked. */
export class PasswordsBusy extends Error {
  override readonly name = 'PasswordsBusy';
}

const limit = pLimit(maxAtOnce);

function queued<T>(work: () => Promise<T>): Promise<T> {
  return limit.activeCount + limit.pendingCount >= maxAtOnce + maxWaiting
    ? Promise.reject(new PasswordsBusy())
    : limit(work);
}

/** A PHC string: it tells its own parameters, so they may change. */
export function hashPassword(password: string): Promise<string> {
  return queued(() => hash(password, cost));
}

let dummy: Promise<string> | undefined;

/** Whether it is the password. Without a hash it never is, after the same time. */
export function isPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  return queued(async () => {
    dummy ??= hash('nobody has this password', cost);
    const isRight = await verify(passwordHash ?? (await dummy), password);
    return isRight && passwordHash !== undefined;
  });
}
