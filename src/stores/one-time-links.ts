import { v7 as uuidv7 } from 'uuid';
import type { Role } from '../domain/role.ts';
import type { Database } from './database.ts';
import { hashToken, looksLikeToken, newToken } from './secret-token.ts';
import { many, maybeOne, none, one } from './statement.ts';

export const linkPurposes = ['setup', 'invite', 'reset'] as const;

type Described = {
  readonly purpose: (typeof linkPurposes)[number];
  /** Undefined for the set-up, where the person gives it. */
  readonly email?: string | undefined;
  readonly accountId?: string | undefined;
  readonly role?: Role | undefined;
  readonly makesOperator: boolean;
};

const hours = 3600;
/** How long each kind of link can be used. */
export const linkSeconds = { setup: 1800, invite: 48 * hours, reset: 48 * hours } as const;

const insertLink = one<{ expiresAt: number }, [linkId: string, hash: Buffer, link: Described]>({
  name: 'create-one-time-link',
  text: `
insert into one_time_links (id, hash, purpose, email, account_id, role, makes_operator, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second')
returning expires_at as "expiresAt"`,
  values: (linkId, hash, { purpose, email, accountId, role, makesOperator }) => [
    linkId,
    hash,
    purpose,
    email,
    accountId,
    role,
    makesOperator,
    linkSeconds[purpose],
  ],
});

/** A link's secret, which is answered this once. */
export type NewLink = { readonly linkId: string; readonly token: string; readonly expiresAt: number };

export async function createLink(db: Pick<Database, 'run'>, link: Described): Promise<NewLink> {
  const [linkId, token] = [uuidv7(), newToken()];
  return { linkId, token, ...(await insertLink(db, linkId, hashToken(token), link)) };
}

export type Link = Described & {
  readonly linkId: string;
  readonly accountName: string | undefined;
  readonly expiresAt: number;
};

// A set-up link is of no use once somebody can sign in as an operator, whoever was faster.
const isUsable = `used_at is null and withdrawn_at is null and expires_at > now()
  and (purpose <> 'setup' or not exists (select from users where is_operator and disabled_at is null))`;

const findByHash = maybeOne<Link, [hash: Buffer]>({
  name: 'find-one-time-link',
  text: `
select one_time_links.id as "linkId", purpose, email, account_id as "accountId", role, makes_operator as "makesOperator",
  accounts.name as "accountName", expires_at as "expiresAt"
from one_time_links left join accounts on accounts.id = account_id where hash = $1 and ${isUsable}`,
});

/** The link of a secret; undefined for one that is malformed, unknown, used, withdrawn or expired, without saying which. */
export async function findLink(db: Pick<Database, 'run'>, token: string): Promise<Link | undefined> {
  return looksLikeToken(token) ? findByHash(db, hashToken(token)) : undefined;
}

/** Uses a link up; undefined when somebody was faster. */
export const useLink = maybeOne<{ linkId: string }, [linkId: string]>({
  name: 'use-one-time-link',
  text: `update one_time_links set used_at = now() where id = $1 and ${isUsable} returning id as "linkId"`,
});

/** Makes the set-up links useless that have not been used. */
export const withdrawSetupLinks = none<[]>({
  name: 'withdraw-setup-links',
  text: `
update one_time_links set withdrawn_at = now() where purpose = 'setup' and used_at is null and withdrawn_at is null`,
});

/** Makes the links useless by which somebody could choose a new password. */
export const withdrawResets = none<[email: string]>({
  name: 'withdraw-resets',
  text: `
update one_time_links set withdrawn_at = now()
where email = $1 and purpose = 'reset' and used_at is null and withdrawn_at is null`,
});

export type Invitation = {
  readonly linkId: string;
  readonly email: string;
  readonly role: Role;
  readonly expiresAt: number;
};

/** The open invitations to an account, newest first; at most 200. */
export const listInvitations = many<Invitation, [accountId: string]>({
  name: 'list-invitations',
  text: `
select id as "linkId", email, role, expires_at as "expiresAt" from one_time_links
where account_id = $1 and purpose = 'invite' and ${isUsable} order by id desc limit 200`,
});

/** The open invitations to an address, of all accounts; at most 100. */
export const openInvitations = many<Pick<Link, 'linkId' | 'accountId' | 'role' | 'makesOperator'>, [email: string]>({
  name: 'list-invitations-to-email',
  text: `
select id as "linkId", account_id as "accountId", role, makes_operator as "makesOperator" from one_time_links
where email = $1 and purpose = 'invite' and ${isUsable} order by id limit 100`,
});

/** Withdraws an open invitation to an account; undefined when there is none. */
export const withdrawInvitation = maybeOne<{ email: string; role: Role }, [accountId: string, linkId: string]>({
  name: 'withdraw-invitation',
  text: `
update one_time_links set withdrawn_at = now()
where account_id = $1 and id = $2 and purpose = 'invite' and ${isUsable} returning email, role`,
});
