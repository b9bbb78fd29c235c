import { z } from 'zod';
import { findAccount } from '../../../stores/accounts.ts';
import { bookCreditsAs, type Booking } from '../../../stores/credits.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import type { Call } from '../../endpoint.ts';
import { idField, idParameter, maxCredits, numberedPage, reasonField, strictQuery, wholeNumber } from '../../fields.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { replayedHeader, requiredIdempotencyKey, requiredIdempotencyKeyHeader } from '../../idempotency-key.ts';
import { booksFields, ledgerEntrySchema, presentBooks, presentLedgerEntry } from '../../presenters/account.ts';
import { type ErrorCode, existing, HttpError } from '../../errors.ts';

const show = defineEndpoint({
  operationId: 'adminShowCredits',
  route: 'GET /api/admin/v1/credits',
  scope: 'operator',
  summary: 'The balance of an account, and the ledger behind it',
  description: 'Entries are listed newest first; balance and entries are read at one and the same moment.',
  query: strictQuery({ accountId: idParameter('an account'), ...numberedPage }),
  data: z.strictObject({ accountId: z.string(), ...booksFields }),
  failures: ['account_not_found'],
  handler: async ({ query }, { db }) => {
    const { accountId } = existing(await findAccount(db, query.accountId), 'account_not_found');
    return { accountId, ...(await presentBooks(db, accountId, query)) };
  },
});

/** The entry as it was booked, also when an earlier request booked it. */
const bookedSchema = z.strictObject({ accountId: z.string(), entry: ledgerEntrySchema });
const bookingFailures: readonly ErrorCode[] = ['account_not_found', 'balance_out_of_range', 'idempotency_key_reused'];

const grant = defineEndpoint({
  operationId: 'adminGrantCredits',
  route: 'POST /api/admin/v1/credits/grant',
  scope: 'operator',
  summary: 'Grant credits to an account',
  description:
    'For credits that were bought or given. Needs an `Idempotency-Key`: repeating a lost request gives the first answer ' +
    'again and grants nothing. The reason is shown to the account in its ledger.',
  headers: requiredIdempotencyKeyHeader,
  body: z.strictObject({
    accountId: idField('an account'),
    credits: wholeNumber(1, maxCredits),
    reason: reasonField,
  }),
  data: bookedSchema,
  answerHeaders: replayedHeader,
  failures: bookingFailures,
  handler: (call, deps) => {
    const { accountId, credits, reason } = call.input;
    return bookCredits(call, deps, { accountId, kind: 'grant', amount: credits, reason });
  },
});

const amountError = `must be a whole number from -${maxCredits} to ${maxCredits}, but not 0`;

const adjust = defineEndpoint({
  operationId: 'adminAdjustCredits',
  route: 'POST /api/admin/v1/credits/adjust',
  scope: 'operator',
  summary: 'Adjust the balance of an account',
  description:
    'For corrections, up or down. The balance can not fall below zero: such an adjustment is refused and changes nothing. ' +
    'Needs an `Idempotency-Key`, as a grant does. The reason is shown to the account in its ledger.',
  headers: requiredIdempotencyKeyHeader,
  body: z.strictObject({
    accountId: idField('an account'),
    amount: wholeNumber(-maxCredits, maxCredits, amountError)
      .refine((amount) => amount !== 0, { error: amountError })
      .meta({ description: 'Signed, and not 0.' }),
    reason: reasonField,
  }),
  data: bookedSchema,
  answerHeaders: replayedHeader,
  failures: bookingFailures,
  handler: (call, deps) => {
    const { accountId, amount, reason } = call.input;
    return bookCredits(call, deps, { accountId, kind: 'adjustment', amount, reason });
  },
});

/** Books credits once for the request's Idempotency-Key, and answers the entry. */
async function bookCredits(
  { actor, ctx }: Pick<Call<'operator', undefined, undefined>, 'actor' | 'ctx'>,
  { db }: HttpDeps,
  booking: Omit<Booking, 'idempotencyKey'>,
): Promise<z.output<typeof bookedSchema>> {
  const outcome = await bookCreditsAs(db, actor, { ...booking, idempotencyKey: requiredIdempotencyKey(ctx) });
  switch (outcome.kind) {
    case 'booked':
    case 'replayed':
      if (outcome.kind === 'replayed') ctx.set('Idempotency-Replayed', 'true');
      return { accountId: booking.accountId, entry: presentLedgerEntry(outcome.entry) };
    case 'balance_out_of_range':
      throw new HttpError('balance_out_of_range', { data: { balance: outcome.balance } });
    case 'key_reused':
      throw new HttpError('idempotency_key_reused');
    case 'account_not_found':
      break;
  }
  throw new HttpError('account_not_found');
}

export const operatorCreditEndpoints = [show, grant, adjust];
