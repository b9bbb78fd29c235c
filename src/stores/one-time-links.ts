import { v7 as uuidv7 } from 'uuid';
import type { Role } from '../domain/role.ts';
import type { Database } from './database.ts';
import { hashToken, looksLikeToken, newToken } from './secret-token.ts';
import { type Origin, recordEvent } from './security-events.ts';
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

type InvitationPage = { readonly before?: string | undefined; readonly limit?: number };

/** The open invitations to an account, newest first; at most 200 unless `limit` says otherwise. */
export const listInvitations = many<Invitation, [accountId: string, page?: InvitationPage]>({
  name: 'list-invitations',
  text: `
select id as "linkId", email, role, expires_at as "expiresAt" from one_time_links
where account_id = $1 and purpose = 'invite' and ($2::uuid is null or id < $2) and ${isUsable} order by id desc limit $3`,
  values: (accountId, { before, limit = 200 } = {}) => [accountId, before, limit],
});

/** The open invitations to an address, of all accounts; at most 100. */
export const openInvitations = many<Pick<Link, 'linkId' | 'accountId' | 'role' | 'makesOperator'>, [email: string]>({
  name: 'list-invitations-to-email',
  text: `
select id as "linkId", account_id as "accountId", role, makes_operator as "makesOperator" from one_time_links
where email = $1 and purpose = 'invite' and ${isUsable} order by id limit 100`,
});

type OperatorInvitation = Pick<Link, 'linkId' | 'accountId' | 'role' | 'expiresAt'> & { readonly email: string };

/** The open invitations that make an operator, newest first; at most 200. */
export const listOperatorInvitations = many<OperatorInvitation>({
  name: 'list-operator-invitations',
  text: `
select id as "linkId", email, account_id as "accountId", role, expires_at as "expiresAt" from one_time_links
where makes_operator and purpose = 'invite' and ${isUsable} order by id desc limit 200`,
});

type Withdrawn = Omit<Described, 'email'> & { readonly email: string };

const withdrawing = (which: string) => `
update one_time_links set withdrawn_at = now() where ${which} and ${isUsable}
returning purpose, email, account_id as "accountId", role, makes_operator as "makesOperator"`;

/** Withdraws one open invitation to an account. */
export const withdrawInvitation = many<Withdrawn, [accountId: string, linkId: string]>({
  name: 'withdraw-invitation',
  text: withdrawing(`account_id = $1 and id = $2 and purpose = 'invite'`),
});

/** Withdraws one open invitation that makes an operator. */
export const withdrawOperatorInvitation = many<Withdrawn, [linkId: string]>({
  name: 'withdraw-operator-invitation',
  text: withdrawing(`id = $1 and makes_operator and purpose = 'invite'`),
});

/** Withdraws the open invitations to an e-mail into one account, or without an account those that only make an operator. */
export const withdrawInvitationsTo = many<Withdrawn, [email: string, accountId: string | undefined]>({
  name: 'withdraw-invitations-to-email',
  text: withdrawing(`email = $1 and account_id is not distinct from $2 and purpose = 'invite'`),
});

/** Withdraws the open invitations by which an e-mail becomes an operator. */
export const withdrawOperatorInvitationsTo = many<Withdrawn, [email: string]>({
  name: 'withdraw-operator-invitations-to-email',
  text: withdrawing(`email = $1 and makes_operator and purpose = 'invite'`),
});

/** Withdraws all open links to an e-mail: invitations and resets. */
export const withdrawLinksTo = many<Withdrawn, [email: string]>({
  name: 'withdraw-links-to-email',
  text: withdrawing('email = $1'),
});

/** Records that invitations were withdrawn; give it the transaction in which they were. */
export async function recordWithdrawn(
  db: Pick<Database, 'run'>,
  links: readonly Withdrawn[],
  by: { readonly actor: string; readonly origin?: Origin },
): Promise<void> {
  for (const { purpose, email, accountId, role = null, makesOperator: isOperator } of links)
    await recordEvent(db, {
      kind: 'link_withdrawn',
      email,
      accountId,
      ...by,
      details: { purpose, role, isOperator },
    });
}
