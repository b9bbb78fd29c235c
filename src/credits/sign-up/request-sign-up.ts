import { hash } from 'node:crypto';
import { findRedeemableCodeHash } from '../ledger/redemption-codes.ts';
import type { QueuedMailState } from '../../platform/mail/mail-texts.ts';
import type { MailQueue } from '../../platform/mail/mail-queue.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';
import { hashToken, newToken } from '../../platform/secrets/secret-token.ts';
import { type MaybeMailedLink, queueLinkMail } from '../../accounts/sign-in/queue-link-mail.ts';
import { createOneTimeLink, openLinkSql, linkLifetimeSeconds } from '../../accounts/sign-in/one-time-links.ts';
import { recordSecurityEvent } from '../../accounts/people/security-events.ts';

// A request to sign up creates a link, which proves that the person reads the mailbox. Nothing else exists before the link is used
// (confirm-sign-up.ts).

export const signUpModes = ['off', 'open', 'code', 'domain'] as const;

export type SignUpPolicy = {
  /** Sign-up may require a redemption code, or an e-mail address of `domains`. */
  readonly mode: (typeof signUpModes)[number];
  readonly domains: readonly string[];
  /** The credits of a new account, once for each mailbox. */
  readonly credits: number;
  /** The keys of the hashes of mailboxes that got credits: the current secret of the installation, then earlier ones. */
  readonly secrets: readonly string[];
  /** Requests in an hour, to the whole installation and from one network. */
  readonly hourlyLimit: number;
  readonly hourlyLimitPerAddress: number;
};

/** Requests in an hour for one mailbox that create a link. Further ones get the same response. */
const hourlyLimitPerMailbox = 3;

export function isDomainAllowed({ mode, domains }: SignUpPolicy, email: string): boolean {
  return mode !== 'domain' || domains.includes(email.slice(email.lastIndexOf('@') + 1));
}

/** The mailbox behind an address: one mailbox has any number of addresses of the form name+anything@domain. */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1).replace(/^googlemail\.com$/, 'gmail.com');
  const name = email.slice(0, at).replace(/(?<=.)\+.*$/, '');
  return `${domain === 'gmail.com' ? name.replaceAll('.', '') : name}@${domain}`;
}

export function hashMailbox(email: string): Buffer {
  return hash('sha256', mailboxOf(email), 'buffer');
}

const lockRequests = noRows<[]>({ name: 'lock-sign-ups', text: 'select pg_advisory_xact_lock(4202619)' });

type Requests = { readonly ofAddress: number; readonly ofMailbox: number; readonly ofAll: number };

const countRequests = one<Requests, [address: string, mailboxHash: Buffer]>({
  name: 'count-sign-ups',
  text: `
select count(*)::int as "ofAll", count(*) filter (where address = $1)::int as "ofAddress",
  count(*) filter (where mailbox_hash = $2)::int as "ofMailbox"
from one_time_links where purpose = 'confirm' and created_at > now() - interval '1 hour'`,
});

export const checkMailboxRegistration = one<{ exists: boolean }, [email: string, mailboxHash: Buffer]>({
  name: 'is-mailbox-registered',
  text: `select exists (select from users where email = $1 or mailbox_hash = $2)`,
});

export type SignUpWish = { readonly email: string; readonly address: string; readonly code?: string | undefined };

/**
 * Creates a link and queues the mail with it. A registered mailbox gets a link that opens nothing, and a mail without it, so that
 * neither the response nor its time depends on who is registered.
 */
export function requestSignUp(
  db: Database,
  { mode, hourlyLimit, hourlyLimitPerAddress }: SignUpPolicy,
  { email, address, code }: SignUpWish,
  mails?: MailQueue,
): Promise<'requested' | 'too_many_sign_ups' | 'code_invalid'> {
  return db.transaction(async (run) => {
    await lockRequests({ run });
    const mailboxHash = hashMailbox(email);
    const { ofAll, ofAddress, ofMailbox } = await countRequests({ run }, address, mailboxHash);
    if (ofAll >= hourlyLimit || ofAddress >= hourlyLimitPerAddress) return 'too_many_sign_ups';
    const codeHash = mode === 'code' ? await findRedeemableCodeHash({ run }, code ?? '') : undefined;
    if (mode === 'code' && codeHash === undefined) return 'code_invalid';
    if (ofMailbox >= hourlyLimitPerMailbox) return 'requested';
    const { exists } = await checkMailboxRegistration({ run }, email, mailboxHash);
    const request = { address, mailboxHash, codeHash, isRegistered: exists };
    const link = await createOneTimeLink({ run }, { purpose: 'confirm', email, isOperator: false, request });
    const { linkId, expiresAt } = link;
    if (!exists) await queueLinkMail({ run }, mails, link, { email });
    else
      await mails?.add({ run }, { kind: 'registered', recipient: email, linkId, path: '/console/sign-in', expiresAt });
    return 'requested';
  });
}

/** A request whose link was not used yet. Times are Unix milliseconds. */
export type UnconfirmedSignUp = {
  readonly linkId: string;
  readonly email: string;
  readonly address: string;
  /** Undefined if no mail was queued. */
  readonly mail: QueuedMailState | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export const listUnconfirmedSignUps = many<UnconfirmedSignUp, [limit: number]>({
  name: 'list-sign-ups',
  text: `
select id as "linkId", email, address, created_at as "createdAt", expires_at as "expiresAt",
  (select state from mails where link_id = one_time_links.id order by created_at desc limit 1) as mail
from one_time_links where purpose = 'confirm' and ${openLinkSql} order by created_at desc limit $1`,
});

const renewLink = maybeOne<{ email: string; expiresAt: number }, [linkId: string, hash: Buffer]>({
  name: 'renew-sign-up-link',
  text: `
update one_time_links set hash = $2, expires_at = now() + ${linkLifetimeSeconds.confirm} * interval '1 second'
where id = $1 and purpose = 'confirm' and ${openLinkSql} returning email, expires_at as "expiresAt"`,
});

/**
 * Creates a new link for an open request, which an operator delivers by hand,
 * and revokes the earlier one. Returns undefined for other requests.
 */
export function renewSignUpLinkAs(db: Database, actor: Actor, linkId: string): Promise<MaybeMailedLink | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const token = newToken();
    const renewed = await renewLink(transaction, linkId, hashToken(token));
    if (renewed === undefined) return { answer: undefined };
    const { email, expiresAt } = renewed;
    const details = { purpose: 'confirm' };
    await recordSecurityEvent(transaction, { kind: 'link_made', email, actor: actor.name, details });
    const answer = { linkId, purpose: 'confirm', token, expiresAt, isMailed: false } as const;
    return { answer, done: { action: 'people.sign_up_link', details: { linkId, email } } };
  });
}
