import { type Role, roles } from './account-roles-and-scopes.ts';
import type { Link } from '../sign-in/one-time-links.ts';
import { endSessionsOfUser } from '../sign-in/sessions.ts';
import { many, maybeOne, noRows, type StatementRunner } from '../../platform/database/declare-statements.ts';
import { setUserIsOperator, type User } from './users.ts';

export type OwnAccount = {
  readonly accountId: string;
  readonly name: string;
  readonly role: Role;
  readonly suspendedAt: number | undefined;
  readonly suspensionReason: string | undefined;
};

/** The accounts of a user, by name; at most 200. */
export const accountsOfUser = many<OwnAccount, [userId: string]>({
  name: 'list-accounts-of-user',
  text: `
select account_id as "accountId", name, role, suspended_at as "suspendedAt", suspension_reason as "suspensionReason"
from memberships join accounts on accounts.id = account_id
where user_id = $1 order by lower(name), account_id limit 200`,
});

// Retention deletes only people without an account (`eraseUsersWithoutAccount`).
const attach = `with attached as (update users set unattached_since = null where id = $2 and unattached_since is not null)`;

export const setMembership = noRows<[accountId: string, userId: string, role: Role]>({
  name: 'set-membership',
  text: `
${attach}
insert into memberships (account_id, user_id, role) values ($1, $2, $3)
on conflict (account_id, user_id) do update set role = excluded.role`,
});

const raiseMembership = maybeOne<{ role: Role }, [accountId: string, userId: string, role: Role]>({
  name: 'raise-membership',
  text: `
${attach}
insert into memberships (account_id, user_id, role) values ($1, $2, $3)
on conflict (account_id, user_id) do update set role = excluded.role
  where array_position('{${roles.join()}}', excluded.role) < array_position('{${roles.join()}}', memberships.role)
returning role`,
});

/**
 * Gives a user the rights of an invitation, and removes none: the invitation may be old. If the user gains rights, their sessions
 * end, because a stolen one would gain them too.
 */
export async function raiseRightsByInvitation(
  db: StatementRunner,
  { userId, isOperator }: Pick<User, 'userId' | 'isOperator'>,
  { accountId, role, isOperator: becomesOperator }: Pick<Link, 'accountId' | 'role' | 'isOperator'>,
): Promise<void> {
  const isPromoted = becomesOperator && !isOperator;
  if (isPromoted) await setUserIsOperator(db, userId, true);
  const isRaised =
    accountId !== undefined && role !== undefined && (await raiseMembership(db, accountId, userId, role)) !== undefined;
  if (isRaised || isPromoted) await endSessionsOfUser(db, userId);
}

export const deleteMembership = noRows<[accountId: string, userId: string]>({
  name: 'delete-membership',
  text: `
with unattached as (
  update users set unattached_since = now() where id = $2 and not is_operator
    and not exists (select from memberships where user_id = $2 and account_id <> $1)
)
delete from memberships where account_id = $1 and user_id = $2`,
});

export type Membership = { readonly userId: string; readonly role: Role; readonly email: string };

/** `userId` is returned in lower case, as the database spells it. */
export const findMembership = maybeOne<Membership, [accountId: string, userId: string]>({
  name: 'find-membership',
  text: `
select user_id as "userId", role, email from memberships join users on users.id = user_id where account_id = $1 and user_id = $2`,
});

/** Returns the ids of those accounts that are open, and keeps them open until the transaction ends. */
export const lockOpenAccounts = many<{ accountId: string }, [accountIds: readonly string[]]>({
  name: 'lock-open-accounts',
  text: `select id as "accountId" from accounts where id = any($1::uuid[]) and closed_at is null order by id for share`,
});

/** As `lockOpenAccounts`, for the oldest account: the first operator becomes its owner. */
export const shareLockOldestOpenAccount = maybeOne<{ accountId: string }>({
  name: 'lock-first-account',
  text: `select id as "accountId" from accounts where closed_at is null order by id limit 1 for share`,
});
