import { z } from 'zod';
import { comingPrices, priceAt } from '../../domain/price.ts';
import type { HttpDeps } from '../http-deps.ts';
import { priceStates, readPriceSchedules, type SetPrice } from '../../stores/prices.ts';
import { unixMs } from '../fields.ts';
import { view } from './view.ts';

/** A price that an operator has set. */
export const setPriceSchema = z
  .strictObject({
    priceId: z.int(),
    model: z.string(),
    accountId: z.string().nullable().meta({ description: 'Null: for every account without a price of its own.' }),
    creditsPerSecond: z.int().positive().nullable().meta({
      description:
        'Null ends the price before it: an account goes back to the list price, that for everybody to the catalogue.',
    }),
    fromTime: unixMs,
    state: z.enum(priceStates),
    reason: z.string(),
    who: z.string(),
    createTime: unixMs,
  })
  .meta({ id: 'SetPrice' });

export function presentSetPrice(price: SetPrice) {
  return view(setPriceSchema, { ...price, fromTime: price.effectiveFrom, createTime: price.createdAt });
}

/** What a model costs an account, now and as far as it is announced. */
export const pricedModel = {
  model: z.string(),
  title: z.string(),
  creditsPerSecond: z.int().positive().meta({ description: "The account's price that is in force now." }),
  nextPrices: z
    .array(z.strictObject({ creditsPerSecond: z.int().positive(), fromTime: unixMs }))
    .meta({ description: 'Prices that come into force later; a task keeps that of its creation.' }),
};

export type PresentedPrice = Awaited<ReturnType<typeof presentPrices>>[number];

/** The prices of every model, for an account or, without one, for accounts that have no prices of their own. */
export async function presentPrices(
  { db, catalogue }: Pick<HttpDeps, 'db' | 'catalogue'>,
  accountId: string | undefined,
) {
  const { atMs, priced } = await readPriceSchedules(db, accountId, [...catalogue().models.values()]);
  return priced.map(({ model: { model, title }, schedule }) => {
    const coming = comingPrices(schedule, atMs);
    const nextPrices = coming.map(({ creditsPerSecond, fromMs }) => ({ creditsPerSecond, fromTime: fromMs }));
    return { model, title, creditsPerSecond: priceAt(schedule, atMs), nextPrices };
  });
}
