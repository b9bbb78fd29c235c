import type { SignedIn } from '../domain/session.ts';
import type { Database } from './database.ts';
import { findFirstAccount, keepOpen, setMembership } from './memberships.ts';
import { type Link, useLink, withdrawResets } from './one-time-links.ts';
import { removePasskeys } from './passkeys.ts';
import { type Origin, recordEvent } from './security-events.ts';
import { createSession, dropDeadSessions, endSession, endSessions, type NewSession, renewSession } from './sessions.ts';
import { createUser, findUserByEmail, setOperator, setPassword, type User } from './users.ts';

type Runner = Pick<Database, 'run'>;

/** How somebody proved who they are. */
export type Means = 'password' | 'passkey' | 'oidc' | 'link';

export type SignIn = {
  readonly user: Pick<User, 'userId' | 'email'>;
  readonly origin: Origin;
  readonly means: Means;
  /** The session that the browser had before: it ends. */
  readonly before?: SignedIn | undefined;
};

/** Makes a session for somebody who has proved who they are. */
export function signIn(db: Database, wanted: SignIn): Promise<NewSession> {
  return db.transaction((run) => signInOn({ run }, wanted));
}

async function signInOn(db: Runner, { user, origin, means, before }: SignIn): Promise<NewSession> {
  const { userId, email } = user;
  await dropDeadSessions(db);
  if (before !== undefined) await endSession(db, before.userId, before.sessionId);
  await recordEvent(db, { kind: 'signed_in', userId, email, origin, details: { means } });
  return createSession(db, userId, origin);
}

/** Gives the session a new secret; undefined when it ended meanwhile. */
export function reauthenticate(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  origin: Origin,
  means: Means,
): Promise<NewSession | undefined> {
  return db.transaction(async (run) => {
    await recordEvent({ run }, { kind: 'reauthenticated', userId, email, origin, details: { means } });
    return renewSession({ run }, sessionId);
  });
}

export function signOut(db: Database, { sessionId, userId, email }: SignedIn, origin: Origin): Promise<void> {
  return db.transaction(async (run) => {
    await endSession({ run }, userId, sessionId);
    await recordEvent({ run }, { kind: 'signed_out', userId, email, origin });
  });
}

/** Changes a password: every other session ends, and this one gets a new secret. Undefined when it ended meanwhile. */
export function changePassword(
  db: Database,
  { sessionId, userId, email }: SignedIn,
  passwordHash: string,
  origin: Origin,
): Promise<NewSession | undefined> {
  return db.transaction(async (run) => {
    await setPassword({ run }, userId, passwordHash);
    await endSessions({ run }, userId, sessionId);
    await withdrawResets({ run }, email);
    await recordEvent({ run }, { kind: 'password_changed', userId, email, origin });
    return renewSession({ run }, sessionId);
  });
}

export type LinkAcceptance = {
  readonly link: Link;
  /** The link's own, or for the set-up the one that the person gave. */
  readonly email: string;
  /** Of the password that the person chose; undefined for somebody who has one, and has just proved it. */
  readonly passwordHash: string | undefined;
  readonly origin: Origin;
};

/** Uses a link: makes the user or gives them a new password, and what the link grants. Undefined when it cannot be used any more. */
export function acceptLink(db: Database, acceptance: LinkAcceptance): Promise<NewSession | undefined> {
  const { link, email, passwordHash, origin } = acceptance;
  return db.transaction(async (run) => {
    const known = await findUserByEmail({ run }, email);
    const { purpose, accountId, role, makesOperator } = link;
    // Somebody has used another link to the address meanwhile: a password that was chosen for it proves nothing now.
    if (known !== undefined && purpose !== 'reset' && passwordHash !== undefined) return undefined;
    if (accountId !== undefined && (await keepOpen({ run }, accountId)) === undefined) return undefined;
    if ((await useLink({ run }, link.linkId)) === undefined) return undefined;
    const user = known ?? (await createUser({ run }, { email, passwordHash, isOperator: false }));
    const { userId } = user;
    if (known !== undefined && purpose === 'reset') {
      if (passwordHash !== undefined) await setPassword({ run }, userId, passwordHash);
      // Whoever had them may not be the person who asked for the reset.
      await removePasskeys({ run }, userId);
      await endSessions({ run }, userId);
    }
    if (makesOperator && !user.isOperator) {
      await setOperator({ run }, userId, true);
      // Sessions made before are too long for an operator.
      await endSessions({ run }, userId);
    }
    const granted = accountId ?? (purpose === 'setup' ? (await findFirstAccount({ run }))?.accountId : undefined);
    if (granted !== undefined) await setMembership({ run }, granted, userId, role ?? 'owner');
    const details = { purpose, role, makesOperator };
    await recordEvent({ run }, { kind: 'link_accepted', userId, email, accountId: granted, origin, details });
    return signInOn({ run }, { user, origin, means: 'link' });
  });
}
