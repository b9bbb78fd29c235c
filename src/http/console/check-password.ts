import pLimit from 'p-limit';
import { passwordFault } from '../../domain/user.ts';
import { hashPassword, isPassword } from '../../passwords/passwords.ts';
import { recordEvent } from '../../stores/security-events.ts';
import { beginTry, succeedTry } from '../../stores/sign-in-tries.ts';
import { findUserByEmail } from '../../stores/users.ts';
import type { SignedIn } from '../../domain/session.ts';
import type { Context } from '../context.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';
import { originOf } from './authenticate-session.ts';
import { isCommonPassword } from './common-passwords.ts';

/** So many connections at most are counting tries: the pool is there for creates, and tries may come from many networks at once. */
const counting = pLimit(2);
const maxWaiting = 50;

type Given = {
  readonly email: string;
  readonly password: string;
  /** The session that the browser has. */
  readonly session?: Pick<SignedIn, 'sessionId' | 'email'> | undefined;
};

/**
 * The user with this e-mail and this password, and the hash that it was checked against, which may be replaced before it counts. Throws
 * one and the same refusal, after the same time, for an e-mail that nobody has, a wrong password and a disabled user; tries are counted
 * before anything is hashed.
 */
export async function checkPassword(ctx: Context, deps: HttpDeps, { email, password, session }: Given) {
  const { db } = deps;
  if (!deps.console.passwordSignIn) throw new HttpError('password_sign_in_off');
  const origin = originOf(ctx);
  const source = session?.email === email ? `session ${session.sessionId}` : origin.address;
  const tryId = await countTry(deps, email, source);
  const user = await findUserByEmail(db, email);
  const checkedHash = user?.passwordHash;
  const isRight = await isPassword(checkedHash, password);
  if (user === undefined || checkedHash === undefined || !isRight || user.isDisabled) {
    // People type passwords into the wrong field: what nobody has as an e-mail is not kept.
    await recordEvent(db, { kind: 'sign_in_failed', userId: user?.userId, email: user?.email, origin });
    throw new HttpError('sign_in_failed');
  }
  await succeedTry(db, tryId);
  return { user, checkedHash };
}

async function countTry({ db }: HttpDeps, email: string, source: string): Promise<number> {
  if (counting.pendingCount >= maxWaiting) throw new HttpError('too_many_sign_ins');
  const { tryId, waitSeconds } = await counting(() => beginTry(db, email, source));
  if (tryId !== undefined) return tryId;
  throw new HttpError('too_many_sign_ins', { headers: { 'Retry-After': String(waitSeconds) } });
}

/** The hash of a password that somebody chose; throws when they may not have it. `path` is its field. */
export async function hashChosenPassword(password: string, email: string, path = 'password'): Promise<string> {
  const message = passwordFault(password, email, isCommonPassword);
  if (message !== undefined) throw invalidRequest([{ path, message }]);
  return hashPassword(password);
}
