import { readFileSync } from 'node:fs';
import pLimit from 'p-limit';
import type { SignedIn } from '../../accounts/sign-in/signed-in-type-and-session-lifetimes.ts';
import { maxPasswordLength, minPasswordLength } from '../../accounts/people/email-and-password-format.ts';
import { hashPassword, verifyPassword } from '../../accounts/sign-in/passwords.ts';
import { recordSecurityEvent } from '../../accounts/people/security-events.ts';
import { countPasswordTry, markTrySucceeded } from '../../accounts/sign-in/password-tries.ts';
import { findUserByEmail } from '../../accounts/people/users.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { HttpError, invalidRequest } from '../core/http-error.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { addressAndUserAgentOf } from './authenticate-session.ts';

/** Connections that count attempts: the pool must stay available for creates. */
const counting = pLimit(2);
const maxWaiting = 50;

export type PasswordDeps = WithDb & { readonly console: { readonly passwordSignIn: boolean } };

type Given = {
  readonly email: string;
  readonly password: string;
  /** The session that the browser has. */
  readonly session?: Pick<SignedIn, 'sessionId' | 'email'> | undefined;
};

/**
 * Verifies an e-mail and a password; returns the user and the hash that matched. An unknown e-mail, an incorrect password and a
 * disabled user get the same error after the same time. Attempts are counted before the password is hashed.
 */
export async function verifyPasswordAttempt(ctx: Context, deps: PasswordDeps, { email, password, session }: Given) {
  const { db } = deps;
  if (!deps.console.passwordSignIn) throw new HttpError('password_sign_in_off');
  const origin = addressAndUserAgentOf(ctx);
  const source = session?.email === email ? `session ${session.sessionId}` : origin.address;
  const tryId = await countTry(deps, email, source);
  const user = await findUserByEmail(db, email);
  const checkedHash = user?.passwordHash;
  const isMatch = await verifyPassword(checkedHash, password);
  if (user === undefined || checkedHash === undefined || !isMatch || user.isDisabled) {
    // People type passwords into the e-mail field, so an unknown e-mail is not recorded.
    await recordSecurityEvent(db, { kind: 'sign_in_failed', userId: user?.userId, email: user?.email, origin });
    throw new HttpError('sign_in_failed', { msg: 'the e-mail or the password is incorrect' });
  }
  await markTrySucceeded(db, tryId);
  return { user, checkedHash };
}

async function countTry({ db }: WithDb, email: string, source: string): Promise<number> {
  if (counting.pendingCount >= maxWaiting) throw new HttpError('too_many_sign_ins');
  const { tryId, waitSeconds } = await counting(() => countPasswordTry(db, email, source));
  if (tryId !== undefined) return tryId;
  throw new HttpError('too_many_sign_ins', { headers: { 'Retry-After': String(waitSeconds) } });
}

export type NewPasswordDeps = { readonly brand: { readonly name: string } };

type NewPassword = {
  readonly password: string;
  readonly email: string;
  /** The field to blame; `password` by default. */
  readonly path?: string;
};

/** Throws if the new password is too weak. */
export async function hashNewPassword(
  { brand }: NewPasswordDeps,
  { password, email, path = 'password' }: NewPassword,
): Promise<string> {
  const message = explainWeakPassword(password, [email, brand.name]);
  if (message !== undefined) throw invalidRequest([{ path, message }]);
  return hashPassword(password);
}

const minDifferentCharacters = 5;

/** Returns the rule that a new password breaks. No kind of character is required: length is what helps. */
export function explainWeakPassword(
  password: string,
  [email, serviceName]: readonly [email: string, serviceName: string],
): string | undefined {
  const length = [...password].length;
  if (length < minPasswordLength || length > maxPasswordLength)
    return `must be ${minPasswordLength} to ${maxPasswordLength} characters`;
  if (new Set(password.toLowerCase()).size < minDifferentCharacters)
    return `must have at least ${minDifferentCharacters} different characters`;
  const bare = lettersOf(password);
  const names = [email, email.slice(0, email.lastIndexOf('@')), serviceName].map(lettersOf);
  if (bare !== '' && names.some((name) => name !== '' && bare.replaceAll(name, '') === ''))
    return 'must not be made of the e-mail or the name of this service';
  return isCommon(password.toLowerCase()) ? 'is too common; choose another' : undefined;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}]/gu, '');
}

let common: ReadonlySet<string> | undefined;

/** The file has those of the 49,233 passwords of zxcvbn-ts (MIT) that are long enough, in lower case. */
function isCommon(password: string): boolean {
  common ??= new Set(readFileSync(new URL(import.meta.resolve('#assets/common-passwords.txt')), 'utf8').split('\n'));
  return common.has(password);
}
