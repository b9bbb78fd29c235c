import type { Actor, OperatorAction } from '../domain/operator.ts';
import type { SecurityEventKind } from '../domain/session.ts';
import type { Database } from './database.ts';
import { recordAction } from './operator-actions.ts';
import { recordEvent } from './security-events.ts';
import { endSessions } from './sessions.ts';
import { findUserByEmail, lockUser, setDisabled, setOperator, type User } from './users.ts';

// What operators change about people; each change is in the audit log and in the log of security events.

export type Named = { readonly userId: string } | { readonly email: string };

type Done = { readonly action: OperatorAction; readonly kind: SecurityEventKind };

/** Changes a user who is not yet as wanted; undefined when there is none. */
function changeUserAs(
  db: Database,
  actor: Actor,
  named: Named,
  change: (transaction: Database, user: User) => Promise<Done | undefined>,
): Promise<User | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const known = 'userId' in named ? named : await findUserByEmail(transaction, named.email);
    const user = known && (await lockUser(transaction, known.userId));
    const done = user && (await change(transaction, user));
    if (user === undefined || done === undefined) return { answer: user };
    const { userId, email } = user;
    await recordEvent(transaction, { kind: done.kind, userId, email, actor: actor.name });
    return { answer: user, done: { action: done.action, details: { userId, email } } };
  });
}

/** Lets somebody in no more, from their next request on, or lets them in again. */
export function disableAs(db: Database, actor: Actor, named: Named, isDisabled: boolean): Promise<User | undefined> {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isDisabled === isDisabled) return undefined;
    await setDisabled(transaction, user.userId, isDisabled);
    await endSessions(transaction, user.userId);
    return isDisabled
      ? { action: 'people.disable', kind: 'user_disabled' }
      : { action: 'people.enable', kind: 'user_enabled' };
  });
}

/** Makes somebody an operator, or no more; their sessions end, for those of operators are shorter. */
export function setOperatorAs(
  db: Database,
  actor: Actor,
  named: Named,
  isOperator: boolean,
): Promise<User | undefined> {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isOperator === isOperator) return undefined;
    await setOperator(transaction, user.userId, isOperator);
    await endSessions(transaction, user.userId);
    return { action: 'people.operator', kind: 'operator_changed' };
  });
}

/** Ends all sessions of a user. */
export function endSessionsAs(db: Database, actor: Actor, named: Named): Promise<User | undefined> {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    const ended = await endSessions(transaction, user.userId);
    return ended.length === 0 ? undefined : { action: 'people.end_sessions', kind: 'session_ended' };
  });
}
