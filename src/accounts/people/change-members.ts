import type { Role } from './account-roles-and-scopes.ts';
import type { SignedIn } from '../sign-in/signed-in-type-and-session-lifetimes.ts';
import { lockAccount, lockOpenAccount } from '../accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { deleteMembership, findMembership, type Membership, setMembership } from './memberships.ts';
import {
  createInvitation,
  listInvitations,
  withdrawInvitation,
  withdrawInvitationsByEmailAndAccount,
} from '../sign-in/one-time-links.ts';
import type { MailQueue } from '../../platform/mail/mail-queue.ts';
import { type MaybeMailedLink, queueLinkMail } from '../sign-in/queue-link-mail.ts';
import { type Origin, recordSecurityEvent } from './security-events.ts';
import { endSessionsOfUser, type SessionWithToken, renewTokenAndAuthentication } from '../sign-in/sessions.ts';
import { one, type StatementRunner } from '../../platform/database/declare-statements.ts';

/** An owner who changes something in their account. */
export type ChangingOwner = { readonly session: SignedIn; readonly accountId: string; readonly origin: Origin };

export const maxInvitations = 100;

const isMember = one<{ exists: boolean }, [accountId: string, email: string]>({
  name: 'is-member',
  text: `
select exists (select from memberships join users on users.id = user_id where account_id = $1 and email = $2)`,
});

/** Too many e-mails wait, or went to this address or by this account. */
export class TooManyMailsError extends Error {
  override readonly name = 'TooManyMailsError';
}

/**
 * Throws `AccountClosedError`; and `TooManyMailsError` where e-mails are sent. A link that was not sent would otherwise be returned to an owner, who
 * could accept it in place of the invited person.
 */
export function inviteMember(
  db: Database,
  { session, accountId, origin }: ChangingOwner,
  { email, role }: { readonly email: string; readonly role: Role },
  mails?: MailQueue,
): Promise<MaybeMailedLink | 'too_many_invitations' | 'already_member'> {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, accountId);
    if ((await isMember({ run }, accountId, email)).exists) return 'already_member';
    const others = (await listInvitations({ run }, accountId)).filter((invitation) => invitation.email !== email);
    if (others.length >= maxInvitations) return 'too_many_invitations';
    const by = { actor: session.email, origin };
    const link = await createInvitation({ run }, by, { email, accountId, role, isOperator: false });
    const mailed = await queueLinkMail({ run }, mails, link, { email, accountId });
    if (mails !== undefined && !mailed.isMailed) throw new TooManyMailsError();
    return mailed;
  });
}

/** Returns false if the account has no open invitation of this id. */
export async function withdrawMemberInvitation(
  db: Database,
  { session, accountId, origin }: ChangingOwner,
  linkId: string,
): Promise<boolean> {
  const by = { actor: session.email, origin };
  return (await withdrawInvitation(db, by, linkId, accountId)) !== undefined;
}

type Refusal = 'member_not_found' | 'last_owner';

const hasAnotherOwner = one<{ exists: boolean }, [accountId: string, userId: string]>({
  name: 'has-another-owner',
  text: `
select exists (
  select from memberships join users on users.id = user_id
  where account_id = $1 and role = 'owner' and disabled_at is null and user_id <> $2)`,
});

/**
 * Finds a member whose role is about to change. Without a `role`, the member
 * leaves. Locks the account, because it must always have an owner.
 */
async function memberToChange(
  db: StatementRunner,
  accountId: string,
  userId: string,
  role?: Role,
): Promise<Membership | Refusal> {
  await lockAccount(db, accountId);
  const member = await findMembership(db, accountId, userId);
  if (member === undefined) return 'member_not_found';
  const losesOwner = member.role === 'owner' && role !== 'owner';
  return losesOwner && !(await hasAnotherOwner(db, accountId, member.userId)).exists ? 'last_owner' : member;
}

/**
 * Changes a role, withdraws invitations to the member, and ends their sessions, so that a stolen session gets no additional
 * rights. An owner who changes their own role keeps their session, under a new secret.
 */
export function changeRoleAndEndSessions(
  db: Database,
  { session, accountId, origin }: ChangingOwner,
  change: { readonly userId: string; readonly role: Role },
): Promise<Refusal | { readonly own: SessionWithToken | undefined }> {
  return db.transaction(async (run) => {
    const member = await memberToChange({ run }, accountId, change.userId, change.role);
    if (typeof member === 'string') return member;
    const { userId, email, role: from } = member;
    const { role: to } = change;
    if (from === to) return { own: undefined };
    await setMembership({ run }, accountId, userId, to);
    const isSelf = userId === session.userId;
    await endSessionsOfUser({ run }, userId, isSelf ? session.sessionId : undefined);
    const by = { actor: session.email, origin };
    const details = { from, to };
    await recordSecurityEvent({ run }, { kind: 'role_changed', userId, email, accountId, ...by, details });
    await withdrawInvitationsByEmailAndAccount({ run }, by, email, accountId);
    return { own: isSelf ? await renewTokenAndAuthentication({ run }, session.sessionId) : undefined };
  });
}

/**
 * Removes a member from the account and withdraws invitations to them. Their sessions stay, because each request reads the membership; the
 * account's keys stay, too, because they belong to it.
 */
export function removeMember(
  db: Database,
  { session, accountId, origin }: ChangingOwner,
  memberId: string,
): Promise<Refusal | 'removed'> {
  return db.transaction(async (run) => {
    const member = await memberToChange({ run }, accountId, memberId);
    if (typeof member === 'string') return member;
    const { userId, email, role } = member;
    await deleteMembership({ run }, accountId, userId);
    const by = { actor: session.email, origin };
    await recordSecurityEvent({ run }, { kind: 'member_removed', userId, email, accountId, ...by, details: { role } });
    await withdrawInvitationsByEmailAndAccount({ run }, by, email, accountId);
    return 'removed';
  });
}
