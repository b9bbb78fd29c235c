import { v7 as uuidv7 } from 'uuid';
import type { Role } from '../domain/role.ts';
import { recentSeconds, sessionSeconds, type SignedIn } from '../domain/session.ts';
import type { Database } from './database.ts';
import { hashToken, looksLikeToken, newToken } from './secret-token.ts';
import type { Origin } from './security-events.ts';
import { many, maybeOne, none, one } from './statement.ts';

type Runner = Pick<Database, 'run'>;

const lengthOf = (which: 'idle' | 'absolute') =>
  `case when is_operator then ${sessionSeconds.operator[which]} else ${sessionSeconds.person[which]} end * interval '1 second'`;

/** SQL: the session counts still. Needs `users`. */
const isLive = `disabled_at is null and sessions.expires_at > now() and last_used_at > now() - ${lengthOf('idle')}`;

const signedIn = (
  session: string,
) => `${session}.id as "sessionId", user_id as "userId", email, is_operator as "isOperator",
  authenticated_at as "authenticatedAt", ${session}.expires_at as "expiresAt",
  authenticated_at > now() - ${recentSeconds} * interval '1 second' as "isRecent"`;

const insertSession = one<SignedIn, [sessionId: string, userId: string, hash: Buffer, origin: Origin]>({
  name: 'create-session',
  text: `
with made as (
  insert into sessions (id, user_id, hash, expires_at, address, user_agent)
  select $1, id, $3, now() + ${lengthOf('absolute')}, $4, $5 from users where id = $2
  returning *
), signed_in as (
  update users set last_sign_in_at = now() where id = $2
)
select ${signedIn('made')} from made join users on users.id = user_id`,
  values: (sessionId, userId, hash, { address, userAgent }) => [sessionId, userId, hash, address, userAgent],
});

/** A session with its secret, which the browser alone keeps. */
export type NewSession = { readonly token: string; readonly session: SignedIn };

export async function createSession(db: Runner, userId: string, origin: Origin): Promise<NewSession> {
  const token = newToken();
  return { token, session: await insertSession(db, uuidv7(), userId, hashToken(token), origin) };
}

const renew = maybeOne<SignedIn, [sessionId: string, hash: Buffer]>({
  name: 'renew-session',
  text: `
update sessions set hash = $2, authenticated_at = now(), last_used_at = now() from users
where sessions.id = $1 and users.id = user_id and ${isLive}
returning ${signedIn('sessions')}`,
});

/** Gives a session a new secret after its person has proved who they are; the old secret is dead. Undefined when it ended meanwhile. */
export async function renewSession(db: Runner, sessionId: string): Promise<NewSession | undefined> {
  const token = newToken();
  const session = await renew(db, sessionId, hashToken(token));
  return session && { token, session };
}

/**
 * Says when the person of a session proved who they are, where that was before the session knew of it. Nobody has the secret of the
 * session yet.
 */
export const dateProof = none<[sessionId: string, authenticatedAt: number]>({
  name: 'date-proof',
  text: `update sessions set authenticated_at = least(authenticated_at, to_timestamp($2::float8 / 1000)) where id = $1`,
});

export type FoundSession = SignedIn & {
  /** What the person is in the account that was asked for; undefined for none. */
  readonly role: Role | undefined;
  readonly suspended: boolean;
};

type Asked = { readonly accountId?: string | undefined; readonly isBackground: boolean };

const findByHash = maybeOne<FoundSession, [hash: Buffer, asked: Asked]>({
  name: 'find-session',
  text: `
with found as (
  select sessions.*, email, is_operator from sessions join users on users.id = user_id where hash = $1 and ${isLive}
), touched as (
  update sessions set last_used_at = now() from found
  where sessions.id = found.id and not $3 and found.last_used_at < now() - interval '1 minute'
)
select ${signedIn('found').replace('user_id', 'found.user_id')}, role, suspended_at is not null as suspended
from found
left join memberships on memberships.user_id = found.user_id and account_id = $2::uuid
left join accounts on accounts.id = account_id`,
  values: (hash, { accountId, isBackground }) => [hash, accountId, isBackground],
});

/**
 * Whose session it is: undefined for a secret that is malformed, unknown, expired or of a disabled user. What pages ask for by
 * themselves does not keep a session alive.
 */
export async function findSession(db: Runner, token: string, asked: Asked): Promise<FoundSession | undefined> {
  return looksLikeToken(token) ? findByHash(db, hashToken(token), asked) : undefined;
}

/** A session as its person may see it. */
export type ListedSession = Origin & {
  readonly sessionId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
};

/** Whether the session has not been ended. */
export const hasSession = one<{ exists: boolean }, [sessionId: string]>({
  name: 'has-session',
  text: 'select exists (select from sessions where id = $1)',
});

/** The live sessions of a user, newest use first; at most 100. */
export const listSessions = many<ListedSession, [userId: string]>({
  name: 'list-sessions',
  text: `
select sessions.id as "sessionId", sessions.created_at as "createdAt", last_used_at as "lastUsedAt",
  least(sessions.expires_at, last_used_at + ${lengthOf('idle')}) as "expiresAt", address, user_agent as "userAgent"
from sessions join users on users.id = user_id
where user_id = $1 and ${isLive} order by last_used_at desc limit 100`,
});

/** Ends one session of a user; undefined when there is none. */
export const endSession = maybeOne<{ sessionId: string }, [userId: string, sessionId: string]>({
  name: 'end-session',
  text: `delete from sessions where user_id = $1 and id = $2 returning id as "sessionId"`,
});

/** Ends the sessions of a user, but for the one that is named; answers which. */
export const endSessions = many<{ sessionId: string }, [userId: string, exceptFor?: string]>({
  name: 'end-sessions',
  text: `delete from sessions where user_id = $1 and id is distinct from $2::uuid returning id as "sessionId"`,
  values: (userId, exceptFor) => [userId, exceptFor],
});
