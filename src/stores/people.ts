import type { Actor, OperatorAction } from '../domain/operator.ts';
import type { SecurityEventKind } from '../domain/session.ts';
import type { Database } from './database.ts';
import { recordWithdrawn, withdrawLinksTo, withdrawOperatorInvitationsTo } from './one-time-links.ts';
import { recordAction } from './operator-actions.ts';
import { recordEvent } from './security-events.ts';
import { endSessions } from './sessions.ts';
import { none, one } from './statement.ts';
import { findUserByEmail, lockUser, setDisabled, setOperator, type User } from './users.ts';

// What operators change about people; each change is in the audit log and in the log of security events.

export type Named = { readonly userId: string } | { readonly email: string };

type Done = { readonly action: OperatorAction; readonly kind: SecurityEventKind };

/** Nobody would be left who can let others in; the set-up link would count again. */
type LastOperator = 'last_operator';

// One change at a time, so that the last two operators cannot both go.
const lockOperators = none<[]>({ name: 'lock-operators', text: 'select pg_advisory_xact_lock(4202617)' });

const hasAnother = one<{ exists: boolean }, [userId: string]>({
  name: 'has-another-operator',
  text: 'select exists (select from users where is_operator and disabled_at is null and id <> $1)',
});

export async function isLastOperator(db: Database, { userId, isOperator, isDisabled }: User): Promise<boolean> {
  await lockOperators(db);
  return isOperator && !isDisabled && !(await hasAnother(db, userId)).exists;
}

/** Changes a user who is not yet as wanted; undefined when there is none. */
function changeUserAs(
  db: Database,
  actor: Actor,
  named: Named,
  change: (transaction: Database, user: User) => Promise<Done | LastOperator | undefined>,
): Promise<User | LastOperator | undefined> {
  return recordAction<User | LastOperator | undefined>(db, actor, async (transaction) => {
    const known = 'userId' in named ? named : await findUserByEmail(transaction, named.email);
    const user = known && (await lockUser(transaction, known.userId));
    const done = user && (await change(transaction, user));
    if (done === 'last_operator') return { answer: done };
    if (user === undefined || done === undefined) return { answer: user };
    const { userId, email } = user;
    await recordEvent(transaction, { kind: done.kind, userId, email, actor: actor.name });
    return { answer: user, done: { action: done.action, details: { userId, email } } };
  });
}

/** Lets somebody in no more, from their next request on, nor by a link that is open; or lets them in again. */
export function disableAs(db: Database, actor: Actor, named: Named, isDisabled: boolean) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isDisabled === isDisabled) return undefined;
    if (isDisabled && (await isLastOperator(transaction, user))) return 'last_operator';
    await setDisabled(transaction, user.userId, isDisabled);
    await endSessions(transaction, user.userId);
    if (isDisabled)
      await recordWithdrawn(transaction, await withdrawLinksTo(transaction, user.email), { actor: actor.name });
    return isDisabled
      ? { action: 'people.disable', kind: 'user_disabled' }
      : { action: 'people.enable', kind: 'user_enabled' };
  });
}

/** Makes somebody an operator, or no more, nor by a link that is open; their sessions end, for those of operators are shorter. */
export function setOperatorAs(db: Database, actor: Actor, named: Named, isOperator: boolean) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isOperator === isOperator) return undefined;
    if (!isOperator && (await isLastOperator(transaction, user))) return 'last_operator';
    await setOperator(transaction, user.userId, isOperator);
    await endSessions(transaction, user.userId);
    if (!isOperator)
      await recordWithdrawn(transaction, await withdrawOperatorInvitationsTo(transaction, user.email), {
        actor: actor.name,
      });
    return { action: 'people.operator', kind: 'operator_changed' };
  });
}

/** Ends all sessions of a user. */
export function endSessionsAs(db: Database, actor: Actor, named: Named) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    const ended = await endSessions(transaction, user.userId);
    return ended.length === 0 ? undefined : { action: 'people.end_sessions', kind: 'session_ended' };
  });
}
