import { passwordFault } from '../../domain/user.ts';
import { hashPassword, isPassword } from '../../passwords/passwords.ts';
import { recordEvent } from '../../stores/security-events.ts';
import { beginTry, succeedTry } from '../../stores/sign-in-tries.ts';
import { findUserByEmail } from '../../stores/users.ts';
import type { Context } from '../context.ts';
import { HttpError, invalidRequest } from '../errors.ts';
import type { HttpDeps } from '../http-deps.ts';
import { originOf } from './authenticate-session.ts';
import { isCommonPassword } from './common-passwords.ts';

/**
 * The user with this e-mail and this password, and the hash that it was checked against, which may be replaced before it counts. Throws
 * one and the same refusal, after the same time, for an e-mail that nobody has, a wrong password and a disabled user; tries are counted
 * before anything is hashed.
 */
export async function checkPassword(ctx: Context, deps: HttpDeps, email: string, password: string) {
  const { db } = deps;
  if (!deps.console.passwordSignIn) throw new HttpError('password_sign_in_off');
  const origin = originOf(ctx);
  const tryId = await beginTry(db, email, origin.address);
  if (tryId === undefined) throw new HttpError('too_many_sign_ins');
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

/** The hash of a password that somebody chose; throws when they may not have it. `path` is its field. */
export async function hashChosenPassword(password: string, email: string, path = 'password'): Promise<string> {
  const message = passwordFault(password, email, isCommonPassword);
  if (message !== undefined) throw invalidRequest([{ path, message }]);
  return hashPassword(password);
}
