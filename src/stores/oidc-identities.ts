import type { Database } from './database.ts';
import { grantAccess, keepOpen } from './memberships.ts';
import { openInvitations, useLink, withdrawResets } from './one-time-links.ts';
import { removePasskeys } from './passkeys.ts';
import { type Origin, recordEvent } from './security-events.ts';
import { endSessions, type NewSession } from './sessions.ts';
import { signInOn, type Wanted } from './sign-in.ts';
import { maybeOne, none } from './statement.ts';
import { createUser, findUserByEmail, lockEmail, lockUser, setPassword, type User } from './users.ts';

type Runner = Pick<Database, 'run'>;

/** Who somebody is at the identity provider. */
export type Identity = {
  readonly issuer: string;
  readonly subject: string;
  /** Undefined unless the provider has verified it. */
  readonly email: string | undefined;
};

const findIdentity = maybeOne<{ userId: string }, [issuer: string, subject: string]>({
  name: 'find-oidc-identity',
  text: `select user_id as "userId" from oidc_identities where issuer = $1 and subject = $2`,
});

const hasIdentity = maybeOne<{ subject: string }, [issuer: string, userId: string]>({
  name: 'has-oidc-identity',
  text: `select subject from oidc_identities where issuer = $1 and user_id = $2 limit 1`,
});

const insertIdentity = none<[issuer: string, subject: string, userId: string]>({
  name: 'create-oidc-identity',
  text: `insert into oidc_identities (issuer, subject, user_id) values ($1, $2, $3)`,
});

/** Makes a session for the user of an identity; undefined where there is none. */
export function signInWithIdentity(
  db: Database,
  identity: Identity,
  { origin, before }: Omit<Wanted, 'user'>,
): Promise<NewSession | undefined> {
  return db.transaction(async (run) => {
    const user = await userOfIdentity({ run }, identity, origin);
    return user && signInOn({ run }, { user, origin, means: 'oidc', before });
  });
}

/**
 * The user of an identity, locked. One that is new here becomes that of the user with its verified e-mail, or of somebody who is invited
 * under it; undefined for everybody else, and for somebody who is disabled. Links are given by hand, so whoever used the first one
 * need not own the address. With the first proof of it, all that opened the user before is taken away.
 */
async function userOfIdentity(db: Runner, identity: Identity, origin: Origin): Promise<User | undefined> {
  const { issuer, subject, email } = identity;
  if (email !== undefined) await lockEmail(db, email);
  const known = await findIdentity(db, issuer, subject);
  const found = known ?? (await newIdentity(db, { issuer, email }));
  const user = found && (await lockUser(db, found.userId));
  if (user === undefined || user.isDisabled) return undefined;
  const { userId } = user;
  if (known === undefined) {
    await setPassword(db, userId, undefined);
    await removePasskeys(db, userId);
    await endSessions(db, userId);
    await withdrawResets(db, user.email);
    await insertIdentity(db, issuer, subject, userId);
    await recordEvent(db, { kind: 'identity_linked', userId, email, origin, details: { issuer } });
  }
  // Somebody who is known by the subject may have lost the address, and links to it are another person's.
  if (email === user.email) await acceptInvitations(db, user, origin);
  return user;
}

/** An address may be given to another person later: whoever had it first keeps what it opened. */
async function newIdentity(db: Runner, { issuer, email }: Pick<Identity, 'issuer' | 'email'>) {
  if (email === undefined) return undefined;
  const user = await findUserByEmail(db, email);
  if (user !== undefined) return (await hasIdentity(db, issuer, user.userId)) === undefined ? user : undefined;
  const invitations = await openInvitations(db, email);
  if (invitations.length === 0) return undefined;
  return createUser(db, { email, passwordHash: undefined, isOperator: false });
}

/** Whoever has proved their address needs no links to it. */
async function acceptInvitations(db: Runner, user: User, origin: Origin): Promise<void> {
  const { userId, email } = user;
  for (const { linkId, accountId, role, makesOperator } of await openInvitations(db, email)) {
    if (accountId !== undefined && (await keepOpen(db, accountId)) === undefined) continue;
    if ((await useLink(db, linkId)) === undefined) continue;
    await grantAccess(db, user, { accountId, role, makesOperator });
    const details = { purpose: 'invite', role, makesOperator };
    await recordEvent(db, { kind: 'link_accepted', userId, email, accountId, origin, details });
  }
}
