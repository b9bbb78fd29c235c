import type { SignedIn } from '../domain/session.ts';
import type { Database } from './database.ts';
import { findFirstAccount, grantAccess, keepOpen } from './memberships.ts';
import { type Link, useLink, withdrawResets } from './one-time-links.ts';
import { removePasskeys, touchPasskey } from './passkeys.ts';
import { type Origin, recordEvent } from './security-events.ts';
import { createSession, endSession, endSessions, type NewSession, renewSession } from './sessions.ts';
import { createUser, findUserByEmail, lockEmail, lockUser, setPassword, type User } from './users.ts';

type Runner = Pick<Database, 'run'>;

/** How somebody proved who they are; of a password, the hash that it was checked against. */
type Proof =
  | { readonly means: 'oidc' }
  | { readonly means: 'passkey'; readonly passkeyId: string; readonly counter: number }
  | { readonly means: 'password'; readonly checkedHash: string };

export type Wanted = {
  readonly user: Pick<User, 'userId' | 'email'>;
  readonly origin: Origin;
  /** The session that the browser had before: it ends. */
  readonly before?: SignedIn | undefined;
};

/** The proof counts no more: the user is disabled, or no longer has the password or the passkey that was checked. */
export class ProofOutdated extends Error {
  override readonly name = 'ProofOutdated';
}

/**
 * Locks a user who has proved who they are, so that what takes access away comes before or after. A password is checked outside of
 * every transaction, and may have been replaced since. Throws `ProofOutdated`.
 */
async function lockProven(db: Runner, userId: string, checkedHash?: string): Promise<User> {
  const user = await lockUser(db, userId);
  const isReplaced = checkedHash !== undefined && checkedHash !== user?.passwordHash;
  if (user === undefined || user.isDisabled || isReplaced) throw new ProofOutdated();
  return user;
}

const hashOf = (proof: Proof) => (proof.means === 'password' ? proof.checkedHash : undefined);

/** Makes a session for somebody who has proved who they are. Throws `ProofOutdated`. */
export function signIn(db: Database, wanted: Wanted & Proof): Promise<NewSession> {
  return db.transaction(async (run) => {
    await lockProven({ run }, wanted.user.userId, hashOf(wanted));
    if (wanted.means === 'passkey' && (await touchPasskey({ run }, wanted.passkeyId, wanted.counter)) === undefined)
      throw new ProofOutdated();
    return signInOn({ run }, wanted);
  });
}

type Means = Proof['means'] | 'link';

/** As `signIn`, in the transaction in which the user was found and locked. */
export async function signInOn(db: Runner, { user, origin, means, before }: Wanted & { readonly means: Means }) {
  const { userId, email } = user;
  if (before !== undefined) await endSession(db, before.userId, before.sessionId);
  await recordEvent(db, { kind: 'signed_in', userId, email, origin, details: { means } });
  return createSession(db, userId, origin);
}

/** Gives the session a new secret; undefined when it ended meanwhile. Throws `ProofOutdated`. */
export function reauthenticate(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  origin: Origin,
  proof: Proof,
): Promise<NewSession | undefined> {
  return db.transaction(async (run) => {
    await lockProven({ run }, userId, hashOf(proof));
    const renewed = await renewSession({ run }, sessionId);
    if (renewed === undefined) return undefined;
    const details = { means: proof.means };
    await recordEvent({ run }, { kind: 'reauthenticated', userId, email, origin, details });
    return renewed;
  });
}

export function signOut(db: Database, { sessionId, userId, email }: SignedIn, origin: Origin): Promise<void> {
  return db.transaction(async (run) => {
    await endSession({ run }, userId, sessionId);
    await recordEvent({ run }, { kind: 'signed_out', userId, email, origin });
  });
}

/**
 * Changes a password: every other session ends, and this one gets a new secret. Undefined when it ended meanwhile, and then nothing is
 * changed. Throws `ProofOutdated`.
 */
export function changePassword(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  origin: Origin,
  { checkedHash, passwordHash }: { readonly checkedHash: string; readonly passwordHash: string },
): Promise<NewSession | undefined> {
  return db.transaction(async (run) => {
    await lockProven({ run }, userId, checkedHash);
    const renewed = await renewSession({ run }, sessionId);
    if (renewed === undefined) return undefined;
    await setPassword({ run }, userId, passwordHash);
    await endSessions({ run }, userId, sessionId);
    await withdrawResets({ run }, email);
    await recordEvent({ run }, { kind: 'password_changed', userId, email, origin });
    return renewed;
  });
}

export type LinkAcceptance = Pick<Wanted, 'origin' | 'before'> & {
  readonly link: Link;
  /** The link's own, or for the set-up the one that the person gave. */
  readonly email: string;
  /** Of the password that the person chose; undefined for somebody who has one. */
  readonly passwordHash?: string | undefined;
  /** Of the password that the person has, and has just proved. */
  readonly checkedHash?: string | undefined;
};

/**
 * Uses a link: makes the user or gives them a new password, and what the link grants. Undefined when it cannot be used any more. Throws
 * `ProofOutdated`.
 */
export function acceptLink(db: Database, acceptance: LinkAcceptance): Promise<NewSession | undefined> {
  const { link, email, passwordHash, checkedHash, origin, before } = acceptance;
  const { purpose, accountId, role, makesOperator } = link;
  return db.transaction(async (run) => {
    if (accountId !== undefined && (await keepOpen({ run }, accountId)) === undefined) return undefined;
    await lockEmail({ run }, email);
    const found = await findUserByEmail({ run }, email);
    const known = found && (await lockProven({ run }, found.userId, checkedHash));
    // Somebody has used another link to the address meanwhile: a password that was chosen for it proves nothing now.
    if (known !== undefined && purpose !== 'reset' && checkedHash === undefined) return undefined;
    if ((await useLink({ run }, link.linkId)) === undefined) return undefined;
    const user = known ?? (await createUser({ run }, { email, passwordHash, isOperator: false }));
    const { userId } = user;
    if (known !== undefined && purpose === 'reset') {
      if (passwordHash !== undefined) await setPassword({ run }, userId, passwordHash);
      // Whoever had them may not be the person who asked for the reset.
      await removePasskeys({ run }, userId);
      await endSessions({ run }, userId);
    }
    const granted = accountId ?? (purpose === 'setup' ? (await findFirstAccount({ run }))?.accountId : undefined);
    await grantAccess({ run }, user, { accountId: granted, role: role ?? 'owner', makesOperator });
    const details = { purpose, role, makesOperator };
    await recordEvent({ run }, { kind: 'link_accepted', userId, email, accountId: granted, origin, details });
    return signInOn({ run }, { user, origin, means: 'link', before });
  });
}
