import { v7 as uuidv7 } from 'uuid';
import type { Role } from '../people/account-roles-and-scopes.ts';
import { hashToken, isToken, newToken } from '../../platform/secrets/secret-token.ts';
import { recordSecurityEvent, type Origin } from '../people/security-events.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, noRows, one, type StatementRunner } from '../../platform/database/declare-statements.ts';

/** `confirm` opens the account of a sign-up. */
export const linkPurposes = ['setup', 'invite', 'reset', 'confirm'] as const;
type LinkPurpose = (typeof linkPurposes)[number];

const hours = 3600;
export const linkLifetimeSeconds = { setup: 1800, invite: 48 * hours, reset: 48 * hours, confirm: 48 * hours } as const;

type LinkGrant = {
  readonly purpose: LinkPurpose;
  /** Undefined for a setup link: the person enters an address. */
  readonly email?: string | undefined;
  readonly accountId?: string | undefined;
  readonly role?: Role | undefined;
  readonly isOperator: boolean;
  /** Only of a sign-up. */
  readonly request?: SignUpLinkDetails | undefined;
};

export type SignUpLinkDetails = {
  /** The network that it came from. */
  readonly address: string;
  readonly mailboxHash: Buffer;
  /** The code that the new account redeems. */
  readonly codeHash: Buffer | undefined;
  /** True if the mailbox has a user already. The link is then stored as withdrawn. */
  readonly isRegistered: boolean;
};

/** A link with its secret, which is not stored. */
export type LinkWithToken = {
  readonly linkId: string;
  readonly purpose: LinkPurpose;
  readonly token: string;
  readonly expiresAt: number;
};

const insertLink = one<{ expiresAt: number }, [linkId: string, hash: Buffer, link: LinkGrant]>({
  name: 'create-one-time-link',
  text: `
insert into one_time_links (id, hash, purpose, email, account_id, role, makes_operator, expires_at, address, mailbox_hash,
  code_hash, withdrawn_at)
values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 second', $9, $10, $11, case when $12 then now() end)
returning expires_at as "expiresAt"`,
  values: (linkId, hash, { request, ...link }) => [
    linkId,
    hash,
    ...pickFieldValues(link, 'purpose', 'email', 'accountId', 'role', 'isOperator'),
    linkLifetimeSeconds[link.purpose],
    request?.address,
    request?.mailboxHash,
    request?.codeHash,
    request?.isRegistered === true,
  ],
});

export async function createOneTimeLink(db: StatementRunner, link: LinkGrant): Promise<LinkWithToken> {
  const [linkId, token] = [uuidv7(), newToken()];
  const { expiresAt } = await insertLink(db, linkId, hashToken(token), link);
  return { linkId, purpose: link.purpose, token, expiresAt };
}

/** Browsers send the part after the # to no server, so the secret is in no log. */
export function pathOfLink({ purpose, token }: Pick<LinkWithToken, 'purpose' | 'token'>): string {
  return `/console/${purpose}#${token}`;
}

export function urlOfLink(publicUrl: string, link: LinkWithToken): string {
  return publicUrl + pathOfLink(link);
}

export type ActorAndOrigin = { readonly actor: string; readonly origin?: Origin | undefined };
export type Invitee = Omit<LinkGrant, 'purpose' | 'email'> & { readonly email: string };

/** Creates an invitation. It replaces the open one to the same e-mail and account. */
export async function createInvitation(
  db: StatementRunner,
  by: ActorAndOrigin,
  invitee: Invitee,
): Promise<LinkWithToken> {
  const { email, accountId, role, isOperator } = invitee;
  await withdrawInvitationsByEmailAndAccount(db, by, email, accountId);
  await recordSecurityEvent(db, { kind: 'link_made', email, accountId, ...by, details: { email, role, isOperator } });
  return createOneTimeLink(db, { purpose: 'invite', ...invitee });
}

export type Link = Omit<LinkGrant, 'request'> & {
  readonly linkId: string;
  /** The code that the account of a sign-up redeems. */
  readonly codeHash: Buffer | undefined;
  readonly accountName: string | undefined;
  readonly expiresAt: number;
};

// A setup link expires as soon as the installation has an operator.
export const openLinkSql = `used_at is null and withdrawn_at is null and expires_at > now()
  and (purpose <> 'setup' or not exists (select from users where is_operator and disabled_at is null))`;

export const linkColumnsSql = `one_time_links.id as "linkId", purpose, email, account_id as "accountId", role,
  makes_operator as "isOperator", code_hash as "codeHash", expires_at as "expiresAt"`;

const findByHash = maybeOne<Link, [hash: Buffer]>({
  name: 'find-one-time-link',
  text: `
select ${linkColumnsSql}, accounts.name as "accountName"
from one_time_links left join accounts on accounts.id = account_id where hash = $1 and ${openLinkSql}`,
});

/** Finds an open link. A malformed, unknown, used, withdrawn or expired one is undefined, without the reason. */
export async function findLink(db: StatementRunner, token: string): Promise<Link | undefined> {
  return isToken(token) ? findByHash(db, hashToken(token)) : undefined;
}

/** Undefined if the link is no longer open. */
export const consumeLink = maybeOne<{ linkId: string }, [linkId: string]>({
  name: 'consume-one-time-link',
  text: `update one_time_links set used_at = now() where id = $1 and ${openLinkSql} returning id as "linkId"`,
});

export type Invitation = Pick<Link, 'linkId' | 'expiresAt'> & { readonly email: string; readonly role: Role };
type InvitationPage = { readonly before?: string | undefined; readonly limit?: number };

/** The open invitations to an account, newest first. */
export const listInvitations = many<Invitation, [accountId: string, page?: InvitationPage]>({
  name: 'list-invitations',
  text: `
select id as "linkId", email, role, expires_at as "expiresAt" from one_time_links
where account_id = $1 and purpose = 'invite' and ($2::uuid is null or id < $2) and ${openLinkSql} order by id desc limit $3`,
  values: (accountId, { before, limit = 200 } = {}) => [accountId, before, limit],
});

/** The open invitations to an e-mail, for all accounts; at most 100. */
export const listInvitationsToEmail = many<Link, [email: string]>({
  name: 'list-invitations-to-email',
  text: `select ${linkColumnsSql} from one_time_links where email = $1 and purpose = 'invite' and ${openLinkSql} order by id limit 100`,
});

type OperatorInvitation = Omit<Invitation, 'role'> & Required<Pick<Link, 'accountId' | 'accountName' | 'role'>>;

/** The open invitations that make an operator, newest first; at most 200. */
export const listOperatorInvitations = many<OperatorInvitation>({
  name: 'list-operator-invitations',
  text: `
select id as "linkId", email, account_id as "accountId", (select name from accounts where id = account_id) as "accountName", role,
  expires_at as "expiresAt"
from one_time_links where makes_operator and purpose = 'invite' and ${openLinkSql} order by id desc limit 200`,
});

type Withdrawn = { readonly email: string; readonly accountId: string | undefined };

/** SQL: withdraws open links and records a security event for each. The arguments of `condition` begin with $4. */
const withdrawing = (condition: string) => `
with withdrawn as (
  update one_time_links set withdrawn_at = now() where ${condition} and ${openLinkSql}
  returning purpose, email, account_id, role, makes_operator
), recorded as (
  insert into security_events (kind, email, account_id, actor, address, user_agent, details)
  select 'link_withdrawn', email, account_id, $1, $2, $3,
    json_build_object('purpose', purpose, 'role', role, 'isOperator', makes_operator) from withdrawn
)
select email, account_id as "accountId" from withdrawn`;

const withChange = ({ actor, origin }: ActorAndOrigin, ...which: readonly (string | undefined)[]) => [
  actor,
  origin?.address,
  origin?.userAgent,
  ...which,
];

/** Withdraws an invitation to the account; without an account, one that makes an operator. */
export const withdrawInvitation = maybeOne<Withdrawn, [by: ActorAndOrigin, linkId: string, accountId?: string]>({
  name: 'withdraw-invitation',
  text: withdrawing(
    `id = $4 and purpose = 'invite' and case when $5::uuid is null then makes_operator else account_id = $5 end`,
  ),
  values: (by, linkId, accountId) => withChange(by, linkId, accountId),
});

/** Withdraws the invitations to an e-mail into one account; without an account, those into none. */
export const withdrawInvitationsByEmailAndAccount = many<
  Withdrawn,
  [by: ActorAndOrigin, email: string, accountId: string | undefined]
>({
  name: 'withdraw-invitations-to-email',
  text: withdrawing(`email = $4 and account_id is not distinct from $5 and purpose = 'invite'`),
  values: withChange,
});

export const withdrawLinksToEmail = many<Withdrawn, [by: ActorAndOrigin, email: string]>({
  name: 'withdraw-links-to-email',
  text: withdrawing('email = $4'),
  values: withChange,
});

export const withdrawSetupLinks = noRows<[]>({
  name: 'withdraw-setup-links',
  text: `
update one_time_links set withdrawn_at = now() where purpose = 'setup' and used_at is null and withdrawn_at is null`,
});

export const withdrawResetLinks = noRows<[email: string]>({
  name: 'withdraw-resets',
  text: `
update one_time_links set withdrawn_at = now()
where email = $1 and purpose = 'reset' and used_at is null and withdrawn_at is null`,
});
