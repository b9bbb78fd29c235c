import type { Database } from '../../platform/database/database.ts';
import { lockOpenAccounts } from '../../accounts/people/memberships.ts';
import {
  CodeTakenError,
  findOpenSignUpLinkByEmail,
  createSignUpUserAndAccount,
  type SignUpConfirmation,
} from './confirm-sign-up.ts';
import type { VerifiedIdentity } from '../../accounts/sign-in/identity-provider.ts';
import {
  consumeLink,
  type Link,
  listInvitationsToEmail,
  withdrawResetLinks,
} from '../../accounts/sign-in/one-time-links.ts';
import { removePasskeys } from '../../accounts/sign-in/passkey-rows.ts';
import { type Origin, recordSecurityEvent } from '../../accounts/people/security-events.ts';
import { endSessionsOfUser, type SessionWithToken } from '../../accounts/sign-in/sessions.ts';
import {
  raiseRightsFromLink,
  openRecordedSession,
  type UserOriginAndEarlierSession,
} from '../../accounts/sign-in/sign-in.ts';
import { maybeOne, noRows, type StatementRunner } from '../../platform/database/declare-statements.ts';
import {
  createUser,
  findUserByEmail,
  lockEmail,
  lockUser,
  writePasswordHash,
  type User,
} from '../../accounts/people/users.ts';

/** `authenticatedAt` is now by default. */
export type Identity = Omit<VerifiedIdentity, 'authenticatedAt'> & Partial<Pick<VerifiedIdentity, 'authenticatedAt'>>;

export const findUserOfIdentity = maybeOne<{ userId: string }, [issuer: string, subject: string]>({
  name: 'find-oidc-identity',
  text: `select user_id as "userId" from oidc_identities where issuer = $1 and subject = $2`,
});

const hasIdentity = maybeOne<{ subject: string }, [issuer: string, userId: string]>({
  name: 'has-oidc-identity',
  text: `select subject from oidc_identities where issuer = $1 and user_id = $2 limit 1`,
});

const insertIdentity = noRows<[issuer: string, subject: string, userId: string]>({
  name: 'create-oidc-identity',
  text: `insert into oidc_identities (issuer, subject, user_id) values ($1, $2, $3)`,
});

type Visit = Omit<UserOriginAndEarlierSession, 'user'> & {
  /** Sign-up is off by default. */
  readonly signUp?: Pick<SignUpConfirmation, 'policy' | 'requestId'> | undefined;
};

/** Signs in the user of an identity and accepts the invitations to its e-mail, or its sign-up; undefined if it has no enabled user. */
export function signInWithIdentity(
  db: Database,
  identity: Identity,
  { origin, before, signUp }: Visit,
): Promise<SessionWithToken | undefined> {
  const { issuer, subject, email, authenticatedAt } = identity;
  const signingIn = db.transaction(async (run) => {
    if (email !== undefined) await lockEmail({ run }, email);
    const invitations = email === undefined ? [] : await lockInvitations({ run }, email);
    const known = await findUserOfIdentity({ run }, issuer, subject);
    const found =
      known ??
      (await userToLink({ run }, identity, invitations)) ??
      (await signUpWith({ run }, identity, { origin, signUp }));
    const user = found && (await lockUser({ run }, found.userId));
    if (user === undefined || user.isDisabled) return undefined;
    if (known === undefined) await linkIdentity({ run }, user, identity, origin);
    // A person may have lost the address that they signed up with. Invitations to it are then for its new owner.
    if (email === user.email) await acceptInvitations({ run }, user, invitations, origin);
    return openRecordedSession({ run }, { user, origin, means: 'oidc', before, authenticatedAt });
  });
  return signingIn.catch((error: unknown) => {
    if (!(error instanceof CodeTakenError)) throw error;
    return undefined;
  });
}

/** The open invitations to an e-mail. Their accounts stay open until the transaction ends. */
async function lockInvitations(db: StatementRunner, email: string): Promise<readonly Link[]> {
  const invitations = await listInvitationsToEmail(db, email);
  const accountIds = invitations.flatMap(({ accountId }) => accountId ?? []);
  const accounts = await lockOpenAccounts(db, accountIds);
  const open = new Set(accounts.map(({ accountId }) => accountId));
  return invitations.filter(({ accountId }) => accountId === undefined || open.has(accountId));
}

/**
 * The user to whom an unknown identity belongs: the one with its verified e-mail, or a new one if the e-mail is invited. A user
 * who has an identity of the issuer keeps it, because providers may give an address to another person.
 */
async function userToLink(db: StatementRunner, { issuer, email }: Identity, invitations: readonly Link[]) {
  if (email === undefined) return undefined;
  const user = await findUserByEmail(db, email);
  if (user !== undefined) return (await hasIdentity(db, issuer, user.userId)) === undefined ? user : undefined;
  if (invitations.length === 0) return undefined;
  return createUser(db, { email, passwordHash: undefined, isOperator: false });
}

/**
 * Links an identity to a user and revokes their other credentials. Operators send links by hand, so the first person to accept one
 * need not own the address; the provider has verified that this person does.
 */
async function linkIdentity(
  db: StatementRunner,
  { userId, email }: User,
  { issuer, subject }: Identity,
  origin: Origin,
): Promise<void> {
  await writePasswordHash(db, userId, undefined);
  await removePasskeys(db, userId);
  await endSessionsOfUser(db, userId);
  await withdrawResetLinks(db, email);
  await insertIdentity(db, issuer, subject, userId);
  await recordSecurityEvent(db, { kind: 'identity_linked', userId, email, origin, details: { issuer } });
}

/** The provider has verified the e-mail, so that the link of an open sign-up need not arrive. */
async function signUpWith(
  db: StatementRunner,
  { email }: Identity,
  { origin, signUp }: Visit,
): Promise<User | undefined> {
  const link = email === undefined || signUp === undefined ? undefined : await findOpenSignUpLinkByEmail(db, email);
  if (email === undefined || signUp === undefined || link === undefined) return undefined;
  return createSignUpUserAndAccount(db, { link, email, origin, ...signUp });
}

async function acceptInvitations(
  db: StatementRunner,
  user: User,
  invitations: readonly Link[],
  origin: Origin,
): Promise<void> {
  for (const invitation of invitations)
    if ((await consumeLink(db, invitation.linkId)) !== undefined)
      await raiseRightsFromLink(db, user, invitation, origin);
}
