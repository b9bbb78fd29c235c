import { z } from 'zod';
import { rateStates, type SetRate } from '../stores/rates.ts';

/** A rate that an operator has set. */
export const setRateSchema = z
  .strictObject({
    rateId: z.int(),
    model: z.string(),
    accountId: z.string().nullable().meta({ description: 'Null: for every account without a rate of its own.' }),
    creditsPerSecond: z.int().positive().nullable().meta({
      description:
        'Null ends the rate before it: an account goes back to the list price, that for everybody to the catalogue.',
    }),
    fromTime: z.int().nonnegative(),
    state: z.enum(rateStates),
    reason: z.string(),
    who: z.string(),
    createTime: z.int().nonnegative(),
  })
  .meta({ id: 'SetRate' });

/** Puts a rate into the words of the API. */
export function shownSetRate(rate: SetRate): z.output<typeof setRateSchema> {
  return {
    rateId: rate.rateId,
    model: rate.model,
    accountId: rate.accountId ?? null,
    creditsPerSecond: rate.creditsPerSecond ?? null,
    fromTime: rate.effectiveFrom,
    state: rate.state,
    reason: rate.reason,
    who: rate.who,
    createTime: rate.createdAt,
  };
}
