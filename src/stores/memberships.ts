import { type Role, roles } from '../domain/role.ts';
import type { Database } from './database.ts';
import { endSessions } from './sessions.ts';
import { many, maybeOne, none } from './statement.ts';
import { setOperator, type User } from './users.ts';

export type OwnAccount = {
  readonly accountId: string;
  readonly name: string;
  readonly role: Role;
  /** Unix milliseconds; undefined for an account that is not suspended. */
  readonly suspendedAt: number | undefined;
  readonly suspensionReason: string | undefined;
};

/** The accounts of a user, by name; at most 200. */
export const accountsOfUser = many<OwnAccount, [userId: string]>({
  name: 'list-accounts-of-user',
  text: `
select account_id as "accountId", name, role, suspended_at as "suspendedAt", suspension_reason as "suspensionReason" from memberships join accounts on accounts.id = account_id
where user_id = $1 order by lower(name), account_id limit 200`,
});

/** SQL: a person with an account is not erased (`deleteExpiredUsers`). */
const attached = `with attached as (update users set unattached_since = null where id = $2 and unattached_since is not null)`;

/** Makes a user a member of an account, or gives them another role there, a lower one too. */
export const setMembership = none<[accountId: string, userId: string, role: Role]>({
  name: 'set-membership',
  text: `
${attached}
insert into memberships (account_id, user_id, role) values ($1, $2, $3)
on conflict (account_id, user_id) do update set role = excluded.role`,
});

const raiseMembership = maybeOne<{ role: Role }, [accountId: string, userId: string, role: Role]>({
  name: 'raise-membership',
  text: `
${attached}
insert into memberships (account_id, user_id, role) values ($1, $2, $3)
on conflict (account_id, user_id) do update set role = excluded.role
  where array_position('{${roles.join()}}', excluded.role) < array_position('{${roles.join()}}', memberships.role)
returning role`,
});

type Grant = {
  readonly accountId?: string | undefined;
  readonly role?: Role | undefined;
  readonly makesOperator: boolean;
};

/**
 * Gives a user what an invitation grants, and never takes a role away. Their sessions end when they may do more than before, so that
 * none that was taken from them lives on with more rights.
 */
export async function grantAccess(
  db: Pick<Database, 'run'>,
  { userId, isOperator }: Pick<User, 'userId' | 'isOperator'>,
  { accountId, role, makesOperator }: Grant,
): Promise<void> {
  const isPromoted = makesOperator && !isOperator;
  if (isPromoted) await setOperator(db, userId, true);
  const isRaised =
    accountId !== undefined && role !== undefined && (await raiseMembership(db, accountId, userId, role)) !== undefined;
  if (isRaised || isPromoted) await endSessions(db, userId);
}

export const deleteMembership = none<[accountId: string, userId: string]>({
  name: 'delete-membership',
  text: `
with unattached as (
  update users set unattached_since = now() where id = $2 and not is_operator
    and not exists (select from memberships where user_id = $2 and account_id <> $1)
)
delete from memberships where account_id = $1 and user_id = $2`,
});

export type Membership = { readonly userId: string; readonly role: Role; readonly email: string };

/** The id of the user is answered as the database spells it, in lower case. */
export const findMembership = maybeOne<Membership, [accountId: string, userId: string]>({
  name: 'find-membership',
  text: `
select user_id as "userId", role, email from memberships join users on users.id = user_id where account_id = $1 and user_id = $2`,
});

/**
 * Undefined for an account that is closed; one that is not stays so until the transaction ends. Asked before links and members are
 * changed, which the closing of an account locks behind it.
 */
export const keepOpen = maybeOne<{ accountId: string }, [accountId: string]>({
  name: 'keep-account-open',
  text: `select id as "accountId" from accounts where id = $1 and closed_at is null for share`,
});

/**
 * The open account that was opened first, for ids grow with time: who sets the installation up owns it. It stays open until the
 * transaction ends.
 */
export const findFirstAccount = maybeOne<{ accountId: string }>({
  name: 'find-first-account',
  text: `select id as "accountId" from accounts where closed_at is null order by id limit 1 for share`,
});
