import type { SignedIn } from './signed-in-type-and-session-lifetimes.ts';
import type { Database } from '../../platform/database/database.ts';
import type { StatementRunner } from '../../platform/database/declare-statements.ts';
import { raiseRightsByInvitation, shareLockOldestOpenAccount, lockOpenAccounts } from '../people/memberships.ts';
import { consumeLink, type Link, withdrawResetLinks } from './one-time-links.ts';
import { removePasskeys, touchPasskey } from './passkey-rows.ts';
import { type Origin, recordSecurityEvent } from '../people/security-events.ts';
import {
  createSession,
  endSession,
  endSessionsOfUser,
  type SessionWithToken,
  renewTokenAndAuthentication,
} from './sessions.ts';
import { createUser, findUserByEmail, lockEmail, lockUser, writePasswordHash, type User } from '../people/users.ts';

// Every transaction here takes its locks in this order: e-mail address, accounts, user.

/** The evidence of an authentication. `checkedHash`: the hash that the password matched. */
type Proof =
  | { readonly means: 'oidc'; readonly authenticatedAt: number }
  | { readonly means: 'passkey'; readonly passkeyId: string; readonly counter: number }
  | { readonly means: 'password'; readonly checkedHash: string };

export type UserOriginAndEarlierSession = {
  readonly user: Pick<User, 'userId' | 'email'>;
  readonly origin: Origin;
  /** The browser's earlier session, which ends. */
  readonly before?: SignedIn | undefined;
};

/** The user was disabled, or their password or passkey replaced, after the proof was verified. */
export class SignInProofOutdatedError extends Error {
  override readonly name = 'SignInProofOutdatedError';
}

/**
 * Locks an authenticated user, so that a reset or a disablement happens before or after, and not in between. Passwords are
 * verified outside of transactions, so the hash is compared again. Throws `SignInProofOutdatedError`.
 */
async function lockProven(db: StatementRunner, userId: string, checkedHash?: string): Promise<User> {
  const user = await lockUser(db, userId);
  const isReplaced = checkedHash !== undefined && checkedHash !== user?.passwordHash;
  if (user === undefined || user.isDisabled || isReplaced) throw new SignInProofOutdatedError();
  return user;
}

const hashOf = (proof: Proof) => (proof.means === 'password' ? proof.checkedHash : undefined);

export function signInWithVerifiedProof(
  db: Database,
  proven: UserOriginAndEarlierSession & Proof,
): Promise<SessionWithToken> {
  return db.transaction(async (run) => {
    await lockProven({ run }, proven.user.userId, hashOf(proven));
    if (proven.means === 'passkey' && (await touchPasskey({ run }, proven.passkeyId, proven.counter)) === undefined)
      throw new SignInProofOutdatedError();
    return openRecordedSession({ run }, proven);
  });
}

type Opening = UserOriginAndEarlierSession & {
  readonly means: Proof['means'] | 'link';
  readonly authenticatedAt?: number | undefined;
};

/** Creates a session for a user whom the transaction has locked. */
export async function openRecordedSession(
  db: StatementRunner,
  { user, origin, means, before, authenticatedAt }: Opening,
) {
  const { userId, email } = user;
  if (before !== undefined) await endSession(db, before.userId, before.sessionId);
  await recordSecurityEvent(db, { kind: 'signed_in', userId, email, origin, details: { means } });
  return createSession(db, userId, origin, authenticatedAt);
}

/** Renews a session after another authentication; undefined if it has ended. Throws `SignInProofOutdatedError`. */
export function renewSessionWithVerifiedProof(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  origin: Origin,
  proof: Proof,
): Promise<SessionWithToken | undefined> {
  return db.transaction(async (run) => {
    await lockProven({ run }, userId, hashOf(proof));
    const renewed = await renewTokenAndAuthentication(
      { run },
      sessionId,
      proof.means === 'oidc' ? proof.authenticatedAt : undefined,
    );
    if (renewed === undefined) return undefined;
    const details = { means: proof.means };
    await recordSecurityEvent({ run }, { kind: 'reauthenticated', userId, email, origin, details });
    return renewed;
  });
}

export function signOut(db: Database, { sessionId, userId, email }: SignedIn, origin: Origin): Promise<void> {
  return db.transaction(async (run) => {
    await endSession({ run }, userId, sessionId);
    await recordSecurityEvent({ run }, { kind: 'signed_out', userId, email, origin });
  });
}

/** Undefined if the person has no session of this id. */
export function endOwnSession(db: Database, { userId, email }: SignedIn, origin: Origin, sessionId: string) {
  return db.transaction(async (run) => {
    const ended = await endSession({ run }, userId, sessionId);
    const details = { sessions: 1 };
    if (ended !== undefined)
      await recordSecurityEvent({ run }, { kind: 'session_ended', userId, email, origin, details });
    return ended;
  });
}

export function endOtherSessions(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  origin: Origin,
): Promise<number> {
  return db.transaction(async (run) => {
    const { length: sessions } = await endSessionsOfUser({ run }, userId, sessionId);
    await recordSecurityEvent({ run }, { kind: 'session_ended', userId, email, origin, details: { sessions } });
    return sessions;
  });
}

/**
 * Changes a password, renews this session and ends the others. Returns undefined, and changes nothing, if this session has ended.
 * Throws `SignInProofOutdatedError`.
 */
export function setPasswordAndEndOtherSessions(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  origin: Origin,
  { checkedHash, passwordHash }: { readonly checkedHash: string; readonly passwordHash: string },
): Promise<SessionWithToken | undefined> {
  return db.transaction(async (run) => {
    await lockProven({ run }, userId, checkedHash);
    const renewed = await renewTokenAndAuthentication({ run }, sessionId);
    if (renewed === undefined) return undefined;
    await writePasswordHash({ run }, userId, passwordHash);
    await endSessionsOfUser({ run }, userId, sessionId);
    await withdrawResetLinks({ run }, email);
    await recordSecurityEvent({ run }, { kind: 'password_changed', userId, email, origin });
    return renewed;
  });
}

export type LinkAcceptance = Pick<UserOriginAndEarlierSession, 'origin' | 'before'> & {
  readonly link: Link;
  readonly email: string;
  /** The hash of a new password: of a new user, or after a reset. */
  readonly passwordHash?: string | undefined;
  /** The hash that the person's existing password matched. */
  readonly checkedHash?: string | undefined;
};

/** Accepts a link and signs the person in; undefined if the link is no longer open. Throws `SignInProofOutdatedError`. */
export function acceptLinkAndSignIn(db: Database, acceptance: LinkAcceptance): Promise<SessionWithToken | undefined> {
  const { link, email, passwordHash, checkedHash, origin, before } = acceptance;
  return db.transaction(async (run) => {
    await lockEmail({ run }, email);
    const account = await lockAccountOf({ run }, link);
    if (link.accountId !== undefined && account === undefined) return undefined;
    const found = await findUserByEmail({ run }, email);
    const known = found && (await lockProven({ run }, found.userId, checkedHash));
    // Another link to the address was accepted first, so the password that this person chose proves nothing.
    if (known !== undefined && link.purpose !== 'reset' && checkedHash === undefined) return undefined;
    if ((await consumeLink({ run }, link.linkId)) === undefined) return undefined;
    const user = known ?? (await createUser({ run }, { email, passwordHash, isOperator: false }));
    if (known !== undefined && link.purpose === 'reset') await resetUser({ run }, known.userId, passwordHash);
    await raiseRightsFromLink({ run }, user, { ...link, ...account }, origin);
    return openRecordedSession({ run }, { user, origin, means: 'link', before });
  });
}

/** The account that a link leads into, which stays open until the transaction ends. */
async function lockAccountOf(db: StatementRunner, { purpose, accountId }: Link) {
  if (purpose === 'setup') {
    const first = await shareLockOldestOpenAccount(db);
    return first && ({ ...first, role: 'owner' } as const);
  }
  return accountId === undefined ? undefined : (await lockOpenAccounts(db, [accountId]))[0];
}

/** Replaces the password, and removes passkeys and sessions, because an intruder who has one may be the reason for the reset. */
async function resetUser(db: StatementRunner, userId: string, passwordHash: string | undefined): Promise<void> {
  if (passwordHash !== undefined) await writePasswordHash(db, userId, passwordHash);
  await removePasskeys(db, userId);
  await endSessionsOfUser(db, userId);
}

export async function raiseRightsFromLink(
  db: StatementRunner,
  user: User,
  { purpose, accountId, role, isOperator }: Pick<Link, 'purpose' | 'accountId' | 'role' | 'isOperator'>,
  origin: Origin,
): Promise<void> {
  await raiseRightsByInvitation(db, user, { accountId, role, isOperator });
  const { userId, email } = user;
  const details = { purpose, role, isOperator };
  await recordSecurityEvent(db, { kind: 'link_accepted', userId, email, accountId, origin, details });
}
