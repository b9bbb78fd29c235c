import { z } from 'zod';
import type { Booking } from '../stores/ledger.ts';
import { bookCreditsAs } from '../stores/operator-credits.ts';
import { succeed } from './envelope.ts';
import type { Failure } from './failures.ts';
import type { HttpDeps } from './http-deps.ts';
import { HttpFailure } from './http-failure.ts';
import { ledgerEntrySchema, shownEntry } from './ledger-entry-schema.ts';
import { actorOf } from './middleware/authenticate-operator.ts';
import type { WithIdempotencyKey } from './middleware/require-idempotency-key.ts';
import type { Context, WithOperator } from './request-state.ts';

/** What a grant and an adjustment answer: the entry as it was booked, also when it was booked by an earlier request. */
export const bookedSchema = z.strictObject({ accountId: z.string(), entry: ledgerEntrySchema });

export const replayedHeader = { 'Idempotency-Replayed': '`true` when this is an earlier answer again.' };

export const bookingFailures: readonly Failure[] = [
  'no_such_account',
  'balance_out_of_range',
  'idempotency_key_reused',
];

/** Books credits once for the request's Idempotency-Key, and answers the entry. */
export async function bookCredits(
  ctx: Context<WithOperator & WithIdempotencyKey>,
  { db }: HttpDeps,
  booking: Omit<Booking, 'idempotencyKey'>,
): Promise<void> {
  const { idempotencyKey } = ctx.state;
  const outcome = await bookCreditsAs(db, actorOf(ctx), { ...booking, idempotencyKey });
  switch (outcome.kind) {
    case 'booked':
    case 'replayed':
      if (outcome.kind === 'replayed') ctx.set('Idempotency-Replayed', 'true');
      return succeed(ctx, { accountId: booking.accountId, entry: shownEntry(outcome.entry) });
    case 'key_reused':
      throw new HttpFailure('idempotency_key_reused');
    case 'balance_out_of_range':
      throw new HttpFailure('balance_out_of_range', { data: { balance: outcome.balance } });
    case 'no_such_account':
      throw new HttpFailure('no_such_account');
  }
}
