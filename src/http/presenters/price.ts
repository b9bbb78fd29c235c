import { z } from 'zod';
import type { ModelCatalogue } from '../../domain/models.ts';
import type { Database } from '../../stores/database.ts';
import { priceStates, readPrices, type SetPrice } from '../../stores/prices.ts';
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
  { db, models }: { readonly db: Database; readonly models: ModelCatalogue },
  accountId: string | undefined,
) {
  const prices = await readPrices(db, accountId, [...models.values()]);
  return [...models.values()].map(({ model, title }) => {
    const [current, ...next] = prices.get(model) ?? [];
    if (current === undefined) throw new Error(`no price of ${model} is in force`);
    const nextPrices = next.map(({ creditsPerSecond, fromMs }) => ({ creditsPerSecond, fromTime: fromMs }));
    return { model, title, creditsPerSecond: current.creditsPerSecond, nextPrices };
  });
}
