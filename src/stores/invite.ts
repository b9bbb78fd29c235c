import type { Actor } from '../domain/operator.ts';
import { lockOpenAccount } from './accounts.ts';
import type { Database } from './database.ts';
import {
  createInvitation,
  createLink,
  type Invitee,
  type NewLink,
  withdrawInvitation,
  withdrawResets,
  withdrawSetupLinks,
} from './one-time-links.ts';
import { recordAction } from './operator-actions.ts';
import { recordEvent } from './security-events.ts';
import { one } from './statement.ts';
import { findUserByEmail, hasOperator } from './users.ts';

/** Invites a person, for an operator; undefined if the account does not exist. Throws `AccountClosed`. */
export function inviteAs(db: Database, actor: Actor, invitee: Invitee): Promise<NewLink | undefined> {
  const { email, accountId, role = null, isOperator } = invitee;
  return recordAction(db, actor, async (transaction) => {
    if (accountId !== undefined && (await lockOpenAccount(transaction, accountId)) === undefined)
      return { answer: undefined };
    const answer = await createInvitation(transaction, { actor: actor.name }, invitee);
    return { answer, done: { action: 'people.invite', accountId, details: { email, role, isOperator } } };
  });
}

const wasWithdrawn = one<{ exists: boolean }, [linkId: string]>({
  name: 'was-operator-invitation-withdrawn',
  text: `
select exists (
  select from one_time_links where id = $1 and makes_operator and purpose = 'invite' and withdrawn_at is not null)`,
});

/** Withdraws an invitation that makes an operator; false if there was never an open one with this id. */
export function withdrawInvitationAs(db: Database, actor: Actor, linkId: string): Promise<boolean> {
  return recordAction(db, actor, async (transaction) => {
    const withdrawn = await withdrawInvitation(transaction, { actor: actor.name }, linkId);
    if (withdrawn === undefined) return { answer: (await wasWithdrawn(transaction, linkId)).exists };
    const { email, accountId } = withdrawn;
    return { answer: true, done: { action: 'people.withdraw', accountId, details: { linkId, email } } };
  });
}

/** Creates a link for a new password, for an operator; undefined if no user has the e-mail. */
export function resetAs(db: Database, actor: Actor, email: string): Promise<NewLink | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const user = await findUserByEmail(transaction, email);
    if (user === undefined) return { answer: undefined };
    await withdrawResets(transaction, email);
    const answer = await createLink(transaction, { purpose: 'reset', email, isOperator: false });
    const details = { purpose: 'reset' };
    await recordEvent(transaction, { kind: 'link_made', userId: user.userId, email, actor: actor.name, details });
    return { answer, done: { action: 'people.reset', details: { userId: user.userId, email } } };
  });
}

/** Creates the link for the first operator, in place of earlier ones; undefined if there is an operator. */
export function createSetupLink(db: Database): Promise<NewLink | undefined> {
  return db.transaction(async (run) => {
    if ((await hasOperator({ run })).exists) return undefined;
    await withdrawSetupLinks({ run });
    return createLink({ run }, { purpose: 'setup', isOperator: true });
  });
}
