import { z } from 'zod';
import type { HttpDeps } from '../http/http-deps.ts';
import { priceStates, readPrices, type SetPrice } from './prices.ts';
import { unixMs } from '../http/fields.ts';
import { view } from '../http/view.ts';

export const setPriceSchema = z
  .strictObject({
    priceId: z.int(),
    model: z.string(),
    accountId: z.string().nullable().meta({ description: 'Null: applies to all accounts without their own price.' }),
    creditsPerSecond: z.int().positive().nullable().meta({
      description:
        "Null ends the previous price: an account returns to the list price, the list price to the catalogue's.",
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

export const pricedModel = {
  model: z.string(),
  title: z.string(),
  creditsPerSecond: z.int().positive().meta({ description: "The account's current price." }),
  nextPrices: z
    .array(z.strictObject({ creditsPerSecond: z.int().positive(), fromTime: unixMs }))
    .meta({ description: 'Future prices; a task keeps the price of its creation.' }),
};

export type PresentedPrice = Awaited<ReturnType<typeof presentPrices>>[number];

/** Without an account, the list prices. */
export async function presentPrices(
  { db, catalogue }: Pick<HttpDeps, 'db' | 'catalogue'>,
  accountId: string | undefined,
) {
  const models = [...catalogue().models.values()];
  const prices = await readPrices(db, accountId, models);
  return models.map(({ model, title }) => {
    const [current, ...next] = prices.get(model) ?? [];
    if (current === undefined) throw new Error(`no price of ${model} is in force`);
    const nextPrices = next.map(({ creditsPerSecond, fromMs }) => ({ creditsPerSecond, fromTime: fromMs }));
    return { model, title, creditsPerSecond: current.creditsPerSecond, nextPrices };
  });
}
