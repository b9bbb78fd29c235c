import { type Account, accountColumnsSql, lockOpenAccount } from './accounts.ts';
import { changeWithAudit } from './operators/audit-log.ts';
import type { Actor } from './operators/actors-and-actions.ts';
import type { ChangingOwner } from './people/change-members.ts';
import { recordSecurityEvent } from './people/security-events.ts';
import type { Database } from '../platform/database/database.ts';
import { maybeOne } from '../platform/database/declare-statements.ts';

const setAccountName = maybeOne<Account, [accountId: string, name: string]>({
  name: 'rename-account',
  text: `update accounts set name = $2 where id = $1 returning ${accountColumnsSql}`,
});

/** Returns undefined for an unknown account. Throws `AccountClosedError`. */
export function renameAccountAs(
  db: Database,
  actor: Actor,
  { accountId, name }: { readonly accountId: string; readonly name: string },
): Promise<Account | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const before = await lockOpenAccount(transaction, accountId);
    if (before === undefined || before.name === name) return { answer: before };
    const answer = await setAccountName(transaction, accountId, name);
    const details = { from: { name: before.name }, to: { name } };
    return { answer, done: { action: 'accounts.rename', accountId, details } };
  });
}

/** An owner renames their account. The event has both names. Throws `AccountClosedError`. */
export function renameOwnAccount(
  db: Database,
  { session, accountId, origin }: ChangingOwner,
  name: string,
): Promise<void> {
  return db.transaction(async (run) => {
    const before = await lockOpenAccount({ run }, accountId);
    if (before === undefined || before.name === name) return;
    await setAccountName({ run }, accountId, name);
    const { userId, email } = session;
    const details = { from: before.name, to: name };
    await recordSecurityEvent({ run }, { kind: 'account_renamed', userId, email, accountId, origin, details });
  });
}
