import { v7 as uuidv7 } from 'uuid';
import type { Role } from '../people/account-roles-and-scopes.ts';
import {
  recentAuthenticationSeconds,
  idleAndAbsoluteSessionSeconds,
  type SignedIn,
} from './signed-in-type-and-session-lifetimes.ts';
import { hashToken, isToken, newToken } from '../../platform/secrets/secret-token.ts';
import type { Origin } from '../people/security-events.ts';
import { many, maybeOne, one, type StatementRunner } from '../../platform/database/declare-statements.ts';

const lengthOf = (which: 'idle' | 'absolute') =>
  `case when is_operator then ${idleAndAbsoluteSessionSeconds.operator[which]} else ${idleAndAbsoluteSessionSeconds.person[which]} end * interval '1 second'`;

const isLive = `disabled_at is null and sessions.expires_at > now() and last_used_at > now() - ${lengthOf('idle')}`;

const signedIn = (
  session: string,
) => `${session}.id as "sessionId", user_id as "userId", email, is_operator as "isOperator",
  authenticated_at as "authenticatedAt", ${session}.expires_at as "expiresAt",
  authenticated_at > now() - ${recentAuthenticationSeconds} * interval '1 second' as "isRecent"`;

/** SQL: when the person authenticated, by our clock at the latest. */
const authenticatedAtOf = (parameter: string) => `least(now(), to_timestamp(${parameter}::float8 / 1000))`;

const insertSession = one<
  SignedIn,
  [sessionId: string, userId: string, hash: Buffer, address: string, userAgent: string, authenticatedAt?: number]
>({
  name: 'create-session',
  text: `
with made as (
  insert into sessions (id, user_id, hash, expires_at, address, user_agent, authenticated_at)
  select $1, id, $3, now() + ${lengthOf('absolute')}, $4, $5, ${authenticatedAtOf('$6')} from users where id = $2
  returning *
), signed_in as (
  update users set last_sign_in_at = now() where id = $2
)
select ${signedIn('made')} from made join users on users.id = user_id`,
});

/** A session with its secret, which is not stored. */
export type SessionWithToken = { readonly token: string; readonly session: SignedIn };

/** `authenticatedAt`: Unix milliseconds; now by default. */
export async function createSession(
  db: StatementRunner,
  userId: string,
  { address, userAgent }: Origin,
  authenticatedAt?: number,
): Promise<SessionWithToken> {
  const [token, sessionId] = [newToken(), uuidv7()];
  const session = await insertSession(db, sessionId, userId, hashToken(token), address, userAgent, authenticatedAt);
  return { token, session };
}

const renew = maybeOne<SignedIn, [sessionId: string, hash: Buffer, authenticatedAt: number | undefined]>({
  name: 'renew-session',
  text: `
update sessions set hash = $2, authenticated_at = ${authenticatedAtOf('$3')}, last_used_at = now() from users
where sessions.id = $1 and users.id = user_id and ${isLive}
returning ${signedIn('sessions')}`,
});

/**
 * Replaces the secret of a session and the time of its authentication, which is now by default. Returns undefined if the session has ended.
 */
export async function renewTokenAndAuthentication(
  db: StatementRunner,
  sessionId: string,
  authenticatedAt?: number,
): Promise<SessionWithToken | undefined> {
  const token = newToken();
  const session = await renew(db, sessionId, hashToken(token), authenticatedAt);
  return session && { token, session };
}

export type SessionWithRole = SignedIn & {
  /** The person's role in the requested account; undefined if they are not a member. */
  readonly role: Role | undefined;
  readonly suspended: boolean;
  /** True for an operator who views the requested account as its owner sees it. Members of the account have their role instead. */
  readonly isView: boolean;
};

type Lookup = { readonly accountId?: string | undefined; readonly isBackground: boolean };

const findByHash = maybeOne<SessionWithRole, [hash: Buffer, lookup: Lookup]>({
  name: 'find-session',
  text: `
with found as (
  select sessions.*, email, is_operator from sessions join users on users.id = user_id where hash = $1 and ${isLive}
), touched as (
  update sessions set last_used_at = now() from found
  where sessions.id = found.id and not $3 and found.last_used_at < now() - interval '1 minute'
)
select ${signedIn('found').replace('user_id', 'found.user_id')}, role, suspended_at is not null as suspended,
  coalesce(is_operator and role is null and viewed_account_id = $2::uuid and viewed_until > now(), false) as "isView"
from found
left join memberships on memberships.user_id = found.user_id and account_id = $2::uuid
left join accounts on accounts.id = account_id`,
  values: (hash, { accountId, isBackground }) => [hash, accountId, isBackground],
});

/** Finds a live session of an enabled user. Background requests do not count as use of the session. */
export async function findAndTouchSession(
  db: StatementRunner,
  token: string,
  lookup: Lookup,
): Promise<SessionWithRole | undefined> {
  return isToken(token) ? findByHash(db, hashToken(token), lookup) : undefined;
}

export type ListedSession = Origin &
  Pick<SignedIn, 'sessionId' | 'expiresAt'> & { readonly createdAt: number; readonly lastUsedAt: number };

export const isSessionStored = one<{ exists: boolean }, [sessionId: string]>({
  name: 'has-session',
  text: 'select exists (select from sessions where id = $1)',
});

/** The live sessions of a user, most recently used first; at most 100. */
export const listSessions = many<ListedSession, [userId: string]>({
  name: 'list-sessions',
  text: `
select sessions.id as "sessionId", sessions.created_at as "createdAt", last_used_at as "lastUsedAt",
  least(sessions.expires_at, last_used_at + ${lengthOf('idle')}) as "expiresAt", address, user_agent as "userAgent"
from sessions join users on users.id = user_id
where user_id = $1 and ${isLive} order by last_used_at desc limit 100`,
});

/** Undefined if the user has no session of this id. */
export const endSession = maybeOne<{ sessionId: string }, [userId: string, sessionId: string]>({
  name: 'end-session',
  text: `delete from sessions where user_id = $1 and id = $2 returning id as "sessionId"`,
});

/** Ends the sessions of a user, except the given one, and returns their ids. */
export const endSessionsOfUser = many<{ sessionId: string }, [userId: string, exceptFor?: string]>({
  name: 'end-sessions',
  text: `delete from sessions where user_id = $1 and id is distinct from $2::uuid returning id as "sessionId"`,
  values: (userId, exceptFor) => [userId, exceptFor],
});
