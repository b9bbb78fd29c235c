import { lockOpenAccount, setAccountName } from './accounts.ts';
import type { By } from './people/members.ts';
import { recordEvent } from './people/security-events.ts';
import type { Database } from '../platform/database/database.ts';

/** An owner renames their account. The event has both names. Throws `AccountClosed`. */
export function renameOwnAccount(db: Database, { session, accountId, origin }: By, name: string): Promise<void> {
  return db.transaction(async (run) => {
    const before = await lockOpenAccount({ run }, accountId);
    if (before === undefined || before.name === name) return;
    await setAccountName({ run }, accountId, name);
    const { userId, email } = session;
    const details = { from: before.name, to: name };
    await recordEvent({ run }, { kind: 'account_renamed', userId, email, accountId, origin, details });
  });
}
