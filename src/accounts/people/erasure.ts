import { hash } from 'node:crypto';
import type { Actor } from '../operators/actors-and-actions.ts';
import type { Database } from '../../platform/database/database.ts';
import { type AnswerWithAction, changeWithAudit } from '../operators/audit-log.ts';
import { lockAndCheckLastOperator, type UserIdOrEmail } from './change-users-as-operator.ts';
import { many, maybeOne, noRows, one, type StatementRunner } from '../../platform/database/declare-statements.ts';
import { findUser, findUserByEmail, lockEmail, lockUser, type User } from './users.ts';

/** Replaces the name and the address of an erased person in records that stay. */
export const erasedUser = 'erased user';

/** Lets the rest of the transaction change append-only records, whose triggers read this setting. */
export const allowAppendOnlyChanges = noRows<[]>({
  name: 'allow-erasure',
  text: `select set_config('videogen.erasure', 'on', true)`,
});

const eraseRecords = one<{ readonly records: number }, [userId: string | undefined, email: string]>({
  name: 'erase-user',
  text: `
with links as (delete from one_time_links where email = $2 returning 1),
tries as (delete from sign_in_tries where email_hash = $3),
events as (delete from security_events where user_id = $1 or email = $2 returning 1),
acts as (
  update security_events set actor = '${erasedUser}', address = null, user_agent = null
  where actor = $2 and user_id is distinct from $1 and email is distinct from $2),
actions as (
  update operator_actions set actor = case when user_id = $1 then '${erasedUser}' else actor end,
    details = case when details->>'email' = $2 then (details::jsonb || '{"email": "${erasedUser}"}')::json else details end
  where user_id = $1 or details->>'email' = $2 returning 1),
prices_set as (
  update prices set who = case when who = $2 then '${erasedUser}' else who end,
    withdrawn_by = case when withdrawn_by = $2 then '${erasedUser}' else withdrawn_by end
  where id in (
    select (details->>'priceId')::bigint from operator_actions
    where user_id = $1 and action in ('prices.set', 'prices.withdraw'))),
switches as (update provider_switches set who = '${erasedUser}' where who = $2),
proofs as (delete from pending_proofs where user_id = $1),
identities as (delete from oidc_identities where user_id = $1),
keys as (delete from passkeys where user_id = $1),
sessions_ended as (delete from sessions where user_id = $1),
accounts_left as (delete from memberships where user_id = $1),
person as (delete from users where id = $1)
select ((select count(*) from links) + (select count(*) from events) + (select count(*) from actions))::int as records`,
  values: (userId, email) => [userId, email, hash('sha256', email, 'buffer')],
});

async function erase(db: StatementRunner, userId: string | undefined, email: string): Promise<number> {
  await allowAppendOnlyChanges(db);
  return (await eraseRecords(db, userId, email)).records;
}

/** Lists erasures by the command line after an entry of the audit log, the oldest first. */
export const listErasuresByCommand = many<
  { readonly actionId: number; readonly userId: string },
  [after: number, limit: number]
>({
  name: 'list-erasures-by-command',
  text: `
select id as "actionId", details->>'userId' as "userId" from operator_actions
where action = 'people.erase' and operator_id is null and user_id is null and details->>'userId' is not null and id > $1
order by id limit $2`,
});

const lockAccountsOf = noRows<[userId: string]>({
  name: 'lock-accounts-of-user',
  text: `
select from accounts where id in (select account_id from memberships where user_id = $1)
order by id for no key update`,
});

/** Locks the e-mail address first, as sign-ins do, so that the person joins no further account. */
async function lockPerson(db: Database, named: UserIdOrEmail): Promise<User | undefined> {
  const found = await ('userId' in named ? findUser(db, named.userId) : findUserByEmail(db, named.email));
  if (found === undefined) return undefined;
  await lockEmail(db, found.email);
  await lockAccountsOf(db, found.userId);
  return lockUser(db, found.userId);
}

const findOnlyOwned = maybeOne<{ readonly accountId: string }, [userId: string]>({
  name: 'find-account-without-another-owner',
  text: `
select account_id as "accountId" from memberships own where user_id = $1 and role = 'owner' and not exists (
  select from memberships other join users on users.id = other.user_id
  where other.account_id = own.account_id and other.role = 'owner' and disabled_at is null and other.user_id <> $1)
order by account_id limit 1`,
});

const wasErased = one<{ readonly exists: boolean }, [userId: string]>({
  name: 'was-user-erased',
  text: `
select exists (select from operator_actions where action = 'people.erase' and details->>'userId' = $1::uuid::text)`,
});

/** Without a user, only records of the address were erased. */
type Erasure =
  | { readonly userId: string | undefined }
  | { readonly onlyOwnerOf: string }
  | 'person_not_found'
  | 'last_operator';

/**
 * Erases a person: their credentials and the records about them. Records that must stay lose the name and the address. An address without a
 * user is erased, too, because invitations and records may contain it.
 */
export function eraseUserAs(db: Database, actor: Actor, named: UserIdOrEmail): Promise<Erasure> {
  const isSelf = actor.kind === 'user' && 'userId' in named && actor.userId === named.userId.toLowerCase();
  const by = isSelf ? { ...actor, name: erasedUser } : actor;
  return changeWithAudit<Erasure>(db, by, async (transaction) => {
    const user = await lockPerson(transaction, named);
    if (user === undefined) return eraseUnknown(transaction, named);
    if (await lockAndCheckLastOperator(transaction, user)) return { answer: 'last_operator' };
    const { userId, email } = user;
    const owned = await findOnlyOwned(transaction, userId);
    if (owned !== undefined) return { answer: { onlyOwnerOf: owned.accountId } };
    await erase(transaction, userId, email);
    return { answer: { userId }, done: { action: 'people.erase', details: { userId } } };
  });
}

async function eraseUnknown(db: Database, named: UserIdOrEmail): Promise<AnswerWithAction<Erasure>> {
  if ('userId' in named) {
    const { userId } = named;
    return { answer: (await wasErased(db, userId)).exists ? { userId } : 'person_not_found' };
  }
  if ((await erase(db, undefined, named.email)) === 0) return { answer: 'person_not_found' };
  return { answer: { userId: undefined }, done: { action: 'people.erase', details: { userId: null } } };
}

// Subqueries with a limit: a join would read all memberships for a page of users.
const isExpired = `not is_operator and unattached_since < to_timestamp($1::float8 / 1000)
  and (select 1 from memberships where user_id = users.id limit 1) is null
  and (select 1 from one_time_links
    where email = users.email and used_at is null and withdrawn_at is null and expires_at > now() limit 1) is null`;

const listExpiredUsers = many<{ readonly userId: string }, [before: number, limit: number]>({
  name: 'list-expired-users',
  text: `select id as "userId" from users where ${isExpired} order by unattached_since limit $2`,
});

const findExpiredUser = maybeOne<{ readonly email: string }, [before: number, userId: string]>({
  name: 'find-expired-user',
  text: `select email from users where id = $2 and ${isExpired}`,
});

/**
 * Erases a page of the people who have had no account and not been operators since before a time (Unix milliseconds), except
 * those with an open invitation. Returns their ids.
 */
export async function eraseUsersWithoutAccount(
  db: Database,
  before: number,
  limit: number,
): Promise<readonly string[]> {
  const erasedIds: string[] = [];
  for (const { userId } of await listExpiredUsers(db, before, limit)) {
    const isErased = await db.transaction(async (run) => {
      await lockUser({ run }, userId);
      const user = await findExpiredUser({ run }, before, userId);
      if (user !== undefined) await erase({ run }, userId, user.email);
      return user !== undefined;
    });
    if (isErased) erasedIds.push(userId);
  }
  return erasedIds;
}
