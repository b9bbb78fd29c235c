import type { Actor } from '../domain/operator.ts';
import type { Role } from '../domain/role.ts';
import { lockOpenAccount } from './accounts.ts';
import type { Database } from './database.ts';
import {
  createLink,
  type NewLink,
  recordWithdrawn,
  withdrawInvitationsTo,
  withdrawOperatorInvitation,
  withdrawResets,
  withdrawSetupLinks,
} from './one-time-links.ts';
import { recordAction } from './operator-actions.ts';
import { recordEvent } from './security-events.ts';
import { one } from './statement.ts';
import { findUserByEmail, hasOperator } from './users.ts';

/** What a link to somebody grants. */
export type WantedInvitation = {
  readonly email: string;
  readonly isOperator: boolean;
  readonly accountId?: string | undefined;
  readonly role?: Role | undefined;
};

/**
 * A link that lets somebody in, for an operator, in place of an open one to the same e-mail and account; undefined when there is no
 * such account. Throws `AccountClosed`.
 */
export function inviteAs(db: Database, actor: Actor, wanted: WantedInvitation): Promise<NewLink | undefined> {
  const { email, isOperator: makesOperator, accountId, role } = wanted;
  return recordAction(db, actor, async (transaction) => {
    if (accountId !== undefined && (await lockOpenAccount(transaction, accountId)) === undefined)
      return { answer: undefined };
    const replaced = await withdrawInvitationsTo(transaction, email, accountId);
    await recordWithdrawn(transaction, replaced, { actor: actor.name });
    const answer = await createLink(transaction, { purpose: 'invite', email, accountId, role, makesOperator });
    const details = { email, role: role ?? null, isOperator: makesOperator };
    await recordEvent(transaction, { kind: 'link_made', email, accountId, actor: actor.name, details });
    return { answer, done: { action: 'people.invite', accountId, details } };
  });
}

const wasWithdrawn = one<{ exists: boolean }, [linkId: string]>({
  name: 'was-operator-invitation-withdrawn',
  text: `
select exists (
  select from one_time_links where id = $1 and makes_operator and purpose = 'invite' and withdrawn_at is not null)`,
});

/** Withdraws an open invitation that makes an operator; false when there is none and was none that somebody has withdrawn. */
export function withdrawInvitationAs(db: Database, actor: Actor, linkId: string): Promise<boolean> {
  return recordAction(db, actor, async (transaction) => {
    const withdrawn = await withdrawOperatorInvitation(transaction, linkId);
    const [invitation] = withdrawn;
    if (invitation === undefined) return { answer: (await wasWithdrawn(transaction, linkId)).exists };
    const { email, accountId } = invitation;
    await recordWithdrawn(transaction, withdrawn, { actor: actor.name });
    return { answer: true, done: { action: 'people.withdraw', accountId, details: { linkId, email } } };
  });
}

/** A link by which somebody chooses a new password, for an operator; undefined when nobody has the e-mail. */
export function resetAs(db: Database, actor: Actor, email: string): Promise<NewLink | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const user = await findUserByEmail(transaction, email);
    if (user === undefined) return { answer: undefined };
    await withdrawResets(transaction, email);
    const answer = await createLink(transaction, { purpose: 'reset', email, makesOperator: false });
    const details = { purpose: 'reset' };
    await recordEvent(transaction, { kind: 'link_made', userId: user.userId, email, actor: actor.name, details });
    return { answer, done: { action: 'people.reset', details: { userId: user.userId, email } } };
  });
}

/** The link of a first start, in place of those before it; undefined once somebody can sign in as an operator. */
export function createSetupLink(db: Database): Promise<NewLink | undefined> {
  return db.transaction(async (run) => {
    if ((await hasOperator({ run })).exists) return undefined;
    await withdrawSetupLinks({ run });
    return createLink({ run }, { purpose: 'setup', makesOperator: true });
  });
}

/** Where a link leads. What follows the # is sent to no server and stands in no log. */
export function addressOfLink(publicUrl: string, purpose: 'setup' | 'invite' | 'reset', { token }: NewLink): string {
  return `${publicUrl}/console/${purpose}#${token}`;
}
