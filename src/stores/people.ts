import type { Actor, OperatorAction } from '../domain/operator.ts';
import type { SecurityEventKind } from '../domain/session.ts';
import type { Database } from './database.ts';
import { withdrawLinksTo } from './one-time-links.ts';
import { recordAction } from './operator-actions.ts';
import { recordEvent } from './security-events.ts';
import { endSessions } from './sessions.ts';
import { none, one } from './statement.ts';
import { findUserByEmail, lockUser, setDisabled, setOperator, type User } from './users.ts';

export type Named = { readonly userId: string } | { readonly email: string };

type Changed = { readonly action: OperatorAction; readonly kind: SecurityEventKind };

type LastOperator = 'last_operator';

// Serializes changes of operators, because the installation must always have one.
const lockOperators = none<[]>({ name: 'lock-operators', text: 'select pg_advisory_xact_lock(4202617)' });

const hasAnother = one<{ exists: boolean }, [userId: string]>({
  name: 'has-another-operator',
  text: 'select exists (select from users where is_operator and disabled_at is null and id <> $1)',
});

export async function isLastOperator(db: Database, { userId, isOperator, isDisabled }: User): Promise<boolean> {
  await lockOperators(db);
  return isOperator && !isDisabled && !(await hasAnother(db, userId)).exists;
}

/** Changes a user and records it. Returns undefined if the user does not exist; `change` does if it changed nothing. */
function changeUserAs(
  db: Database,
  actor: Actor,
  named: Named,
  change: (transaction: Database, user: User) => Promise<Changed | LastOperator | undefined>,
): Promise<User | LastOperator | undefined> {
  return recordAction<User | LastOperator | undefined>(db, actor, async (transaction) => {
    const known = 'userId' in named ? named : await findUserByEmail(transaction, named.email);
    const user = known && (await lockUser(transaction, known.userId));
    const changed = user && (await change(transaction, user));
    if (changed === 'last_operator') return { answer: changed };
    if (user === undefined || changed === undefined) return { answer: user };
    const { userId, email } = user;
    await recordEvent(transaction, { kind: changed.kind, userId, email, actor: actor.name });
    return { answer: user, done: { action: changed.action, details: { userId, email } } };
  });
}

/** Disables a user, ends their sessions and withdraws links to them; or enables them. */
export function disableAs(db: Database, actor: Actor, named: Named, isDisabled: boolean) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isDisabled === isDisabled) return undefined;
    if (isDisabled && (await isLastOperator(transaction, user))) return 'last_operator';
    await setDisabled(transaction, user.userId, isDisabled);
    await endSessions(transaction, user.userId);
    if (isDisabled) await withdrawLinksTo(transaction, { actor: actor.name }, user.email);
    return isDisabled
      ? { action: 'people.disable', kind: 'user_disabled' }
      : { action: 'people.enable', kind: 'user_enabled' };
  });
}

/** Grants the operator role, or revokes it and withdraws links to the user. Sessions of operators are shorter, so all end. */
export function setOperatorAs(db: Database, actor: Actor, named: Named, isOperator: boolean) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    if (user.isOperator === isOperator) return undefined;
    if (!isOperator && (await isLastOperator(transaction, user))) return 'last_operator';
    await setOperator(transaction, user.userId, isOperator);
    await endSessions(transaction, user.userId);
    if (!isOperator) await withdrawLinksTo(transaction, { actor: actor.name }, user.email);
    return { action: 'people.operator', kind: 'operator_changed' };
  });
}

export function endSessionsAs(db: Database, actor: Actor, named: Named) {
  return changeUserAs(db, actor, named, async (transaction, user) => {
    const ended = await endSessions(transaction, user.userId);
    return ended.length === 0 ? undefined : { action: 'people.end_sessions', kind: 'session_ended' };
  });
}
