import type { Actor, OperatorAction } from '../operators/actors-and-actions.ts';
import type { SecurityEventKind } from './security-events.ts';
import { lockOpenAccount } from '../accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  createInvitation,
  createOneTimeLink,
  type Invitee,
  type LinkWithToken,
  withdrawInvitation,
  withdrawLinksToEmail,
  withdrawResetLinks,
  withdrawSetupLinks,
} from '../sign-in/one-time-links.ts';
import type { MailQueue } from '../../platform/mail/mail-queue.ts';
import { type MaybeMailedLink, queueLinkMail } from '../sign-in/queue-link-mail.ts';
import { changeWithAudit } from '../operators/audit-log.ts';
import { recordSecurityEvent } from './security-events.ts';
import { endSessionsOfUser } from '../sign-in/sessions.ts';
import { noRows, one } from '../../platform/database/declare-statements.ts';
import { findUserByEmail, hasOperator, lockUser, setUserDisabled, setUserIsOperator, type User } from './users.ts';

/** Invites a person, for an operator; undefined if the account does not exist. Throws `AccountClosedError`. */
export function invitePersonAs(
  db: Database,
  actor: Actor,
  invitee: Invitee,
  mails?: MailQueue,
): Promise<MaybeMailedLink | undefined> {
  const { email, accountId, role = null, isOperator } = invitee;
  return changeWithAudit(db, actor, async (transaction) => {
    if (accountId !== undefined && (await lockOpenAccount(transaction, accountId)) === undefined)
      return { answer: undefined };
    const link = await createInvitation(transaction, { actor: actor.name }, invitee);
    const answer = await queueLinkMail(transaction, mails, link, { email });
    return { answer, done: { action: 'people.invite', accountId, details: { email, role, isOperator } } };
  });
}

const wasWithdrawn = one<{ exists: boolean }, [linkId: string]>({
  name: 'was-operator-invitation-withdrawn',
  text: `
select exists (
  select from one_time_links where id = $1 and makes_operator and purpose = 'invite' and withdrawn_at is not null)`,
});

/** Withdraws an invitation that makes an operator. Returns false if there is no open or withdrawn one with this id. */
export function withdrawOperatorInvitationAs(db: Database, actor: Actor, linkId: string): Promise<boolean> {
  return changeWithAudit(db, actor, async (transaction) => {
    const withdrawn = await withdrawInvitation(transaction, { actor: actor.name }, linkId);
    if (withdrawn === undefined) return { answer: (await wasWithdrawn(transaction, linkId)).exists };
    const { email, accountId } = withdrawn;
    // As the database spells it.
    const details = { linkId: linkId.toLowerCase(), email };
    return { answer: true, done: { action: 'people.withdraw', accountId, details } };
  });
}

/** Creates a link for a new password, for an operator; undefined if no user has the e-mail. */
export function createResetLinkAs(
  db: Database,
  actor: Actor,
  email: string,
  mails?: MailQueue,
): Promise<MaybeMailedLink | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const user = await findUserByEmail(transaction, email);
    if (user === undefined) return { answer: undefined };
    await withdrawResetLinks(transaction, email);
    const link = await createOneTimeLink(transaction, { purpose: 'reset', email, isOperator: false });
    const answer = await queueLinkMail(transaction, mails, link, { email });
    const { userId } = user;
    const details = { purpose: 'reset' };
    await recordSecurityEvent(transaction, { kind: 'link_made', userId, email, actor: actor.name, details });
    return { answer, done: { action: 'people.reset', details: { userId, email } } };
  });
}

/** Creates the link for the first operator, in place of earlier ones; undefined if there is an operator. */
export function createSetupLink(db: Database): Promise<LinkWithToken | undefined> {
  return db.transaction(async (run) => {
    if ((await hasOperator({ run })).exists) return undefined;
    await withdrawSetupLinks({ run });
    return createOneTimeLink({ run }, { purpose: 'setup', isOperator: true });
  });
}

export type UserIdOrEmail = { readonly userId: string } | { readonly email: string };

type Changed = { readonly action: OperatorAction; readonly kind: SecurityEventKind };

type LastOperator = 'last_operator';

// Serializes changes of operators, because the installation must always have one.
const lockOperators = noRows<[]>({ name: 'lock-operators', text: 'select pg_advisory_xact_lock(4202617)' });

const hasAnother = one<{ exists: boolean }, [userId: string]>({
  name: 'has-another-operator',
  text: 'select exists (select from users where is_operator and disabled_at is null and id <> $1)',
});

export async function lockAndCheckLastOperator(
  db: Database,
  { userId, isOperator, isDisabled }: User,
): Promise<boolean> {
  await lockOperators(db);
  return isOperator && !isDisabled && !(await hasAnother(db, userId)).exists;
}

/** Changes a user and records it. Returns undefined if the user does not exist; `change` does if it changed nothing. */
function changeUserAs(
  db: Database,
  actor: Actor,
  named: UserIdOrEmail,
  change: (transaction: Database, user: User) => Promise<Changed | LastOperator | undefined>,
): Promise<User | LastOperator | undefined> {
  return changeWithAudit<User | LastOperator | undefined>(db, actor, async (transaction) => {
    const known = 'userId' in named ? named : await findUserByEmail(transaction, named.email);
    const user = known && (await lockUser(transaction, known.userId));
    const changed = user && (await change(transaction, user));
    if (changed === 'last_operator') return { answer: changed };
    if (user === undefined || changed === undefined) return { answer: user };
    const { userId, email } = user;
    await recordSecurityEvent(transaction, { kind: changed.kind, userId, email, actor: actor.name });
    return { answer: user, done: { action: changed.action, details: { userId, email } } };
  });
}

/** Disables a user, ends their sessions and withdraws links to them; or enables them. */
export function setUserDisabledAs(db: Database, actor: Actor, named: UserIdOrEmail, isDisabled: boolean) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isDisabled === isDisabled) return undefined;
    if (isDisabled && (await lockAndCheckLastOperator(transaction, user))) return 'last_operator';
    await setUserDisabled(transaction, user.userId, isDisabled);
    await endSessionsOfUser(transaction, user.userId);
    if (isDisabled) await withdrawLinksToEmail(transaction, { actor: actor.name }, user.email);
    return isDisabled
      ? { action: 'people.disable', kind: 'user_disabled' }
      : { action: 'people.enable', kind: 'user_enabled' };
  });
}

/** Grants the operator role, or revokes it and withdraws links to the user. Sessions of operators are shorter, so all end. */
export function setUserIsOperatorAs(db: Database, actor: Actor, named: UserIdOrEmail, isOperator: boolean) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isOperator === isOperator) return undefined;
    if (!isOperator && (await lockAndCheckLastOperator(transaction, user))) return 'last_operator';
    await setUserIsOperator(transaction, user.userId, isOperator);
    await endSessionsOfUser(transaction, user.userId);
    if (!isOperator) await withdrawLinksToEmail(transaction, { actor: actor.name }, user.email);
    return { action: 'people.operator', kind: 'operator_changed' };
  });
}

export function endSessionsOfUserAs(db: Database, actor: Actor, named: UserIdOrEmail) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    const ended = await endSessionsOfUser(transaction, user.userId);
    return ended.length === 0 ? undefined : { action: 'people.end_sessions', kind: 'session_ended' };
  });
}
