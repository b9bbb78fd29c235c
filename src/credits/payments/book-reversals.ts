import { bookCredits } from '../ledger/ledger-entries-and-book-credits.ts';
import type { Database } from '../../platform/database/database.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import type { PaymentProvider, Reversal } from './payment-provider.ts';
import { findTopUpByPayment, type TopUp } from './top-ups.ts';

// Refunds and disputes take back their share of the credits, even if these are already spent. Each is booked when it begins, and reversed
// if the money stays with us after all.

export type ReversalOutcome =
  | { readonly kind: 'unknown_payment' }
  | {
      readonly kind: 'applied';
      readonly topUp: TopUp;
      readonly booked: readonly BookedReversal[];
      readonly notComparable: readonly string[];
    };
export type BookedReversal = Pick<Reversal, 'reference' | 'kind'> & { readonly credits: number };

/** Each concurrent change of the same purchase costs one attempt. */
const maxAttempts = 10;

/** Books what has changed since the last time. */
export async function readAndBookReversals(
  { db, provider }: { readonly db: Database; readonly provider: PaymentProvider },
  paymentId: string,
): Promise<ReversalOutcome> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const topUp = await findTopUpByPayment(db, paymentId);
    if (topUp === undefined) return { kind: 'unknown_payment' };
    const reversals = await provider.readReversals(paymentId, topUp);
    if (reversals === undefined) return { kind: 'unknown_payment' };
    const booked = await bookChanges(db, topUp, reversals);
    if (booked === undefined) continue;
    // Their share would be a guess, so an operator books it.
    const notComparable = reversals.flatMap(({ reference, minorUnits, isTaken }) =>
      minorUnits === undefined && isTaken ? [reference] : [],
    );
    return { kind: 'applied', topUp, booked, notComparable };
  }
  throw new Error(`the reversals of payment ${paymentId} changed ${maxAttempts} times while they were read`);
}

/**
 * Returns undefined if the purchase has changed since `topUp` was read: the provider was read after that, so its view could be older than
 * the one that was booked in between.
 */
function bookChanges(
  db: Database,
  topUp: TopUp & { readonly version: number },
  reversals: readonly Reversal[],
): Promise<readonly BookedReversal[] | undefined> {
  const { topUpId, accountId, credits, minorUnits, version } = topUp;
  return db.transaction(async (run) => {
    if ((await lockVersion({ run }, topUpId))?.version !== version) return undefined;
    const stored = new Map((await listReversals({ run }, topUpId)).map((one) => [one.reference, one]));
    const taken = () => [...stored.values()].reduce((sum, one) => sum + (one.isTaken ? one.minorUnits : 0), 0);
    const booked: BookedReversal[] = [];
    let isChanged = false;
    for (const { reference, kind, isTaken, isFinal, ...reversal } of reversals) {
      if (reversal.minorUnits === undefined) continue;
      const before = stored.get(reference);
      const amount = Math.min(reversal.minorUnits, minorUnits);
      const now = { reference, minorUnits: amount, isTaken, isFinal };
      const isSame = before?.isTaken === isTaken && before.isFinal === isFinal && before.minorUnits === amount;
      if (isSame || (before === undefined && !isTaken)) continue;
      // Shares are of the sum of all reversals, so that partial refunds of the whole price take exactly all credits.
      const creditsBefore = shareOf(taken(), { credits, minorUnits });
      stored.set(reference, now);
      const change = creditsBefore - shareOf(taken(), { credits, minorUnits });
      await storeReversal({ run }, topUpId, { ...now, kind });
      isChanged = true;
      if (change === 0) continue;
      const reason = `${reasons[kind]} of top-up ${topUp.package}`;
      const entry = await bookCredits({ run }, { accountId, kind: 'adjustment', amount: change, reason, topUpId });
      if (entry === undefined) throw new Error(`the balance of account ${accountId} is out of range`);
      booked.push({ reference, kind, credits: change });
    }
    // Only a change raises the version, so concurrent reads of the provider that find nothing new do not invalidate each other.
    if (isChanged) await raiseVersion({ run }, topUpId);
    return booked;
  });
}

const reasons = { refund: 'Refund', dispute: 'Dispute' } as const;

/** Rounds down. BigInt is used, because the product may exceed 2^53. */
function shareOf(
  part: number,
  { credits, minorUnits }: { readonly credits: number; readonly minorUnits: number },
): number {
  return Number((BigInt(credits) * BigInt(part)) / BigInt(minorUnits));
}

const lockVersion = maybeOne<{ readonly version: number }, [topUpId: string]>({
  name: 'lock-top-up-version',
  text: 'select reversals_version as version from top_ups where id = $1 for update',
});

const raiseVersion = noRows<[topUpId: string]>({
  name: 'raise-top-up-version',
  text: 'update top_ups set reversals_version = reversals_version + 1 where id = $1',
});

type StoredReversal = Omit<Reversal, 'kind' | 'minorUnits'> & { readonly minorUnits: number };

const listReversals = many<StoredReversal, [topUpId: string]>({
  name: 'list-reversals-of-top-up',
  text: `
select reference, minor_units as "minorUnits", is_taken as "isTaken", is_final as "isFinal"
from top_up_reversals where top_up_id = $1`,
});

const storeReversal = noRows<[topUpId: string, reversal: StoredReversal & Pick<Reversal, 'kind'>]>({
  name: 'store-reversal',
  text: `
insert into top_up_reversals (top_up_id, reference, kind, minor_units, is_taken, is_final) values ($1, $2, $3, $4, $5, $6)
on conflict (top_up_id, reference) do update
set minor_units = excluded.minor_units, is_taken = excluded.is_taken, is_final = excluded.is_final`,
  values: (id, one) => [id, ...pickFieldValues(one, 'reference', 'kind', 'minorUnits', 'isTaken', 'isFinal')],
});

/** Lists payments with refunds or disputes that may still change. */
export const listPaymentsWithUnsettledReversals = many<
  { readonly topUpId: string; readonly paymentId: string },
  [after: string | undefined, limit: number]
>({
  name: 'list-open-reversals',
  text: `
select distinct top_up_id as "topUpId", payment_id as "paymentId"
from top_up_reversals join top_ups on top_ups.id = top_up_id
where not is_final and ($1::uuid is null or top_up_id > $1) order by top_up_id limit $2`,
});
