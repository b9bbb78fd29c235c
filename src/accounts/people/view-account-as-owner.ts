import type { Actor } from '../operators/actors-and-actions.ts';
import { changeWithAudit } from '../operators/audit-log.ts';
import type { OwnAccount } from './memberships.ts';
import { hourMs } from '../../platform/timing/milliseconds-per-unit.ts';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows } from '../../platform/database/declare-statements.ts';

// An operator views an account as its owner sees it. The view belongs to a session, and is written with its entry in the audit log, so
// that no account is viewed without one. src/api/sign-in/authenticate-session.ts refuses every change by a view.

export const accountViewMs = hourMs;

export type AccountView = Omit<OwnAccount, 'role'> & { readonly expiresAt: number };

export const findAccountView = maybeOne<AccountView, [sessionId: string]>({
  name: 'find-view',
  text: `
select accounts.id as "accountId", name, suspended_at as "suspendedAt", suspension_reason as "suspensionReason",
  viewed_until as "expiresAt"
from sessions join accounts on accounts.id = viewed_account_id
where sessions.id = $1 and viewed_until > now()`,
});

const begin = maybeOne<{ sessionId: string }, [sessionId: string, accountId: string]>({
  name: 'begin-view',
  text: `
update sessions set viewed_account_id = accounts.id, viewed_until = now() + ${accountViewMs} * interval '1 millisecond'
from accounts where sessions.id = $1 and accounts.id = $2
returning sessions.id as "sessionId"`,
});

/** Begins a view, which replaces an earlier one. Returns false for an unknown account. */
export function beginAccountViewAs(
  db: Database,
  actor: Actor,
  { sessionId, accountId, reason }: { readonly sessionId: string; readonly accountId: string; readonly reason: string },
): Promise<boolean> {
  return changeWithAudit(db, actor, async (transaction) => {
    const isFound = (await begin(transaction, sessionId, accountId)) !== undefined;
    return { answer: isFound, ...(isFound && { done: { action: 'accounts.view', accountId, details: { reason } } }) };
  });
}

export const clearAccountView = noRows<[sessionId: string]>({
  name: 'end-view',
  text: 'update sessions set viewed_account_id = null, viewed_until = null where id = $1',
});
