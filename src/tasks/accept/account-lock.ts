import { type Database, databaseJoiningTransaction } from '../../platform/database/database.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';

// The part `locked` makes the statement read the clock when it holds the lock.
const lock = maybeOne<{ readonly isSameDay: boolean }, [accountId: string]>({
  name: 'lock-account-for-create',
  text: `
with locked as materialized (select id from accounts where id = $1 for no key update)
select date_trunc('day', now(), 'UTC') = date_trunc('day', clock_timestamp(), 'UTC') as "isSameDay" from locked`,
});

/**
 * Runs `work` in a transaction that holds the account's lock. At most one of these transactions in each process waits for the lock of an
 * account. If it waited over midnight UTC, it begins again: its tasks would belong to the day before, whose spending the caps no longer
 * count.
 */
export async function withAccountLock<T>(
  db: Pick<Database, 'transaction' | 'runExclusive'>,
  accountId: string,
  work: (transaction: Database) => Promise<T>,
): Promise<T> {
  return db.runExclusive(accountId, async () => {
    // A transaction that is part of another one cannot begin again, but has had the lock since the other one began.
    for (let mayRepeat = true; ; mayRepeat = false) {
      const done = await db.transaction(async (run) => {
        const locked = await lock({ run }, accountId);
        if (locked?.isSameDay === false && mayRepeat) return undefined;
        return { result: await work(databaseJoiningTransaction({ run })) };
      });
      if (done !== undefined) return done.result;
    }
  });
}
