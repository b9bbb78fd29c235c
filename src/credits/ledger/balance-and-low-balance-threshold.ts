import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import { lockOpenAccount } from '../../accounts/accounts.ts';

const writeLowBalance = noRows<[accountId: string, lowBalance: number | null]>({
  name: 'set-low-balance',
  text: 'update accounts set low_balance = $2 where id = $1',
});

/**
 * Sets the threshold below which the account's balance is low: the console warns, and the event `balance.low` happens for an account with
 * an event endpoint. Null: never. Throws `AccountClosedError`.
 */
export function setLowBalanceThreshold(db: Database, accountId: string, lowBalance: number | null): Promise<void> {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, accountId);
    await writeLowBalance({ run }, accountId, lowBalance);
  });
}

/** The balance, and the threshold below which it is low; undefined for none. */
export const findBalanceAndThreshold = maybeOne<
  { readonly balance: number; readonly lowBalance: number | undefined },
  [accountId: string]
>({
  name: 'find-balance',
  text: `select balance, low_balance as "lowBalance" from accounts where id = $1`,
});
