import type { Role } from '../domain/role.ts';
import type { SignedIn } from '../domain/session.ts';
import { lockOpenAccount } from './accounts.ts';
import type { Database } from './database.ts';
import { deleteMembership, findMembership, type Membership, setMembership } from './memberships.ts';
import {
  createLink,
  listInvitations,
  type NewLink,
  recordWithdrawn,
  withdrawInvitation,
  withdrawInvitationsTo,
} from './one-time-links.ts';
import { type Origin, recordEvent } from './security-events.ts';
import { endSessions, type NewSession, renewSession } from './sessions.ts';
import { many, none, one } from './statement.ts';

// What an owner changes about the people of an account.

/** A person in an account. */
export type Member = {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly isDisabled: boolean;
  readonly joinedAt: number;
  readonly lastUsedAt: number | undefined;
};

/** The members of an account by e-mail; at most 1,000. */
export const listMembers = many<Member, [accountId: string]>({
  name: 'list-members',
  text: `
select users.id as "userId", email, role, disabled_at is not null as "isDisabled", memberships.created_at as "joinedAt",
  greatest(last_sign_in_at, (select max(last_used_at) from sessions where user_id = users.id)) as "lastUsedAt"
from memberships join users on users.id = user_id where account_id = $1 order by email limit 1000`,
});

/** A page of all members, for an export. */
export const listMembersAfter = many<Member, [accountId: string, after: string | undefined, limit: number]>({
  name: 'list-members-after',
  text: `
select users.id as "userId", email, role, disabled_at is not null as "isDisabled", memberships.created_at as "joinedAt",
  greatest(last_sign_in_at, (select max(last_used_at) from sessions where user_id = users.id)) as "lastUsedAt"
from memberships join users on users.id = user_id where account_id = $1 and ($2::text is null or email > $2) order by email limit $3`,
});

/** The account about which an owner decides, and from where. */
export type By = { readonly session: SignedIn; readonly accountId: string; readonly origin: Origin };

export const maxInvitations = 100;

const isMember = one<{ exists: boolean }, [accountId: string, email: string]>({
  name: 'is-member',
  text: `
select exists (select from memberships join users on users.id = user_id where account_id = $1 and email = $2)`,
});

/** Makes a link that lets somebody into the account, in place of an open one to the same e-mail. Throws `AccountClosed`. */
export function inviteMember(
  db: Database,
  { session, accountId, origin }: By,
  { email, role }: { readonly email: string; readonly role: Role },
): Promise<NewLink | 'too_many_invitations' | 'already_member'> {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, accountId);
    if ((await isMember({ run }, accountId, email)).exists) return 'already_member';
    const replaced = await withdrawInvitationsTo({ run }, email, accountId);
    const isMore = replaced.length === 0;
    if (isMore && (await listInvitations({ run }, accountId)).length >= maxInvitations) return 'too_many_invitations';
    await recordWithdrawn({ run }, replaced, { actor: session.email, origin });
    const details = { email, role };
    await recordEvent({ run }, { kind: 'link_made', email, accountId, actor: session.email, origin, details });
    return createLink({ run }, { purpose: 'invite', accountId, makesOperator: false, ...details });
  });
}

/** Withdraws an open invitation; false when there is none. */
export function withdrawMemberInvitation(
  db: Database,
  { session, accountId, origin }: By,
  linkId: string,
): Promise<boolean> {
  return db.transaction(async (run) => {
    const withdrawn = await withdrawInvitation({ run }, accountId, linkId);
    await recordWithdrawn({ run }, withdrawn, { actor: session.email, origin });
    return withdrawn.length > 0;
  });
}

const lockMembers = none<[accountId: string]>({
  name: 'lock-members',
  text: 'select from accounts where id = $1 for no key update',
});

type Outcome = 'member_not_found' | 'last_owner';

const hasAnotherOwner = one<{ exists: boolean }, [accountId: string, userId: string]>({
  name: 'has-another-owner',
  text: `
select exists (
  select from memberships join users on users.id = user_id
  where account_id = $1 and role = 'owner' and disabled_at is null and user_id <> $2)`,
});

/** Somebody must be left who can let others in. */
async function isLastOwner(db: Pick<Database, 'run'>, accountId: string, { userId, role }: Membership) {
  return role === 'owner' && !(await hasAnotherOwner(db, accountId, userId)).exists;
}

/**
 * Gives a member another role, which no open invitation undoes. Their sessions end, so that none that was taken from them lives on
 * with more rights; the owner's own gets a new secret, which is answered.
 */
export function changeRole(
  db: Database,
  { session, accountId, origin }: By,
  wanted: { readonly userId: string; readonly role: Role },
): Promise<Outcome | { readonly own: NewSession | undefined }> {
  return db.transaction(async (run) => {
    await lockMembers({ run }, accountId);
    const member = await findMembership({ run }, accountId, wanted.userId);
    if (member === undefined) return 'member_not_found';
    const { userId, email, role: from } = member;
    const { role: to } = wanted;
    if (from === to) return { own: undefined };
    if (await isLastOwner({ run }, accountId, member)) return 'last_owner';
    await setMembership({ run }, accountId, userId, to);
    const isSelf = userId === session.userId;
    await endSessions({ run }, userId, isSelf ? session.sessionId : undefined);
    const by = { actor: session.email, origin };
    await recordEvent({ run }, { kind: 'role_changed', userId, email, accountId, ...by, details: { from, to } });
    await recordWithdrawn({ run }, await withdrawInvitationsTo({ run }, email, accountId), by);
    return { own: isSelf ? await renewSession({ run }, session.sessionId) : undefined };
  });
}

/** Takes somebody out of the account, from their next request on; no open invitation lets them in again. */
export function removeMember(
  db: Database,
  { session, accountId, origin }: By,
  memberId: string,
): Promise<Outcome | 'removed'> {
  return db.transaction(async (run) => {
    await lockMembers({ run }, accountId);
    const member = await findMembership({ run }, accountId, memberId);
    if (member === undefined) return 'member_not_found';
    if (await isLastOwner({ run }, accountId, member)) return 'last_owner';
    const { userId, email, role } = member;
    await deleteMembership({ run }, accountId, userId);
    const by = { actor: session.email, origin };
    await recordEvent({ run }, { kind: 'member_removed', userId, email, accountId, ...by, details: { role } });
    await recordWithdrawn({ run }, await withdrawInvitationsTo({ run }, email, accountId), by);
    return 'removed';
  });
}
