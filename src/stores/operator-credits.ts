import type { Actor } from '../domain/operator.ts';
import { lockAccount } from './account-list.ts';
import { type Database, violatedUniqueConstraint } from './database.ts';
import { bookCredits, type Booking, findBooking, type LedgerEntry } from './ledger.ts';
import { type Change, recordAction } from './operator-actions.ts';

export type BookingOutcome =
  | { readonly kind: 'booked'; readonly entry: LedgerEntry }
  /** The same idempotency key came before with the same booking: its entry again, nothing booked. */
  | { readonly kind: 'replayed'; readonly entry: LedgerEntry }
  | { readonly kind: 'key_reused' }
  | { readonly kind: 'account_not_found' }
  | { readonly kind: 'balance_out_of_range'; readonly balance: number };

/** Gives or takes credits, once for each idempotency key. Nothing is booked unless the answer is `booked`. */
export async function bookCreditsAs(db: Database, actor: Actor, booking: Booking): Promise<BookingOutcome> {
  try {
    return await recordAction(db, actor, (transaction) => bookOnce(transaction, booking));
  } catch (error) {
    // Bookings of one account stand in a queue, so a rival with the same key has booked for another account.
    if (violatedUniqueConstraint(error) !== 'ledger_by_idempotency_key') throw error;
    return { kind: 'key_reused' };
  }
}

async function bookOnce(transaction: Database, booking: Booking): Promise<Change<BookingOutcome>> {
  const { accountId, kind, amount, reason, idempotencyKey } = booking;
  const account = await lockAccount(transaction, accountId);
  if (account === undefined) return { answer: { kind: 'account_not_found' } };
  const earlier = idempotencyKey === undefined ? undefined : await findBooking(transaction, idempotencyKey);
  if (earlier !== undefined) {
    return { answer: isSame(booking, earlier) ? { kind: 'replayed', entry: earlier.entry } : { kind: 'key_reused' } };
  }
  const entry = await bookCredits(transaction, booking);
  if (entry === undefined) return { answer: { kind: 'balance_out_of_range', balance: account.balance } };
  const details = { amount, balance: entry.balanceAfter, reason, entryId: entry.entryId };
  const action = kind === 'grant' ? 'credits.grant' : 'credits.adjust';
  return { answer: { kind: 'booked', entry }, done: { action, accountId, details } };
}

function isSame(booking: Booking, { accountId, entry }: { accountId: string; entry: LedgerEntry }): boolean {
  return (
    booking.accountId === accountId &&
    booking.kind === entry.kind &&
    booking.amount === entry.amount &&
    booking.reason === entry.reason
  );
}
