import { z } from 'zod';
import type { WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { priceConditionsSchema } from '../../catalogue/prices/prices-schema-and-file-rows.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Model } from '../../catalogue/models/model-type-and-name-lookup.ts';
import type { CataloguePrice } from '../../catalogue/prices/model-prices.ts';
import { priceStates, type OperatorPrice } from '../../credits/prices/operator-prices.ts';
import { readCurrentAndAnnouncedPrices } from '../../credits/prices/current-and-announced-prices.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

const credits = z.int().nonnegative();

export const operatorPriceSchema = z
  .strictObject({
    priceId: z.int(),
    model: z.string(),
    priceName: z.string().meta({ description: 'It has no effect while the model has no price with this name.' }),
    accountId: z.string().nullable().meta({ description: 'Null: applies to all accounts without their own price.' }),
    accountName: z.string().nullable(),
    creditsPerSecond: credits.nullable().meta({
      description:
        "Both amounts are null if they end the previous price: an account returns to the list price, the list price to the catalogue's.",
    }),
    creditsPerVideo: credits.nullable(),
    fromTime: unixMsSchema,
    state: z.enum(priceStates),
    reason: z.string(),
    who: z.string(),
    createTime: unixMsSchema,
  })
  .meta({ id: 'SetPrice' });

export function presentSetPrice(price: OperatorPrice) {
  return pickRowFieldsBySchema(operatorPriceSchema, {
    ...price,
    fromTime: price.effectiveFrom,
    createTime: price.createdAt,
  });
}

const modelPriceSchema = z
  .strictObject({
    name: z.string(),
    when: priceConditionsSchema.meta({
      description: 'The conditions, which must all hold; without any, every input meets them.',
    }),
    rates: z
      .array(z.strictObject({ creditsPerSecond: credits, creditsPerVideo: credits, fromTime: unixMsSchema }))
      .meta({
        description:
          'The amounts, which add up: those in force, if the price has begun, and announced ones. A task keeps the price of its creation.',
      }),
  })
  .meta({ id: 'ModelPrice' });

export const pricedModelFields = {
  model: z.string(),
  title: z.string(),
  prices: z.array(modelPriceSchema).meta({
    description:
      'In the order in which they are decided: the first price that has begun and whose conditions the input meets applies. The last ' +
      'one has no conditions.',
  }),
};

export type PresentedPrices = ReturnType<typeof presentPrice>[];

export type PriceDeps = WithCatalogueGetter & { readonly db: Database };
/** `isSold`: false while the live workers cannot generate the model. */
export type SoldModelDeps = PriceDeps & { readonly isSold: (model: string) => boolean };

/** Without an account, the list prices. */
export async function readAllModelPrices({ db, catalogue }: PriceDeps, accountId: string | undefined) {
  const priced = await readPresented(db, accountId, [...catalogue().models.values()]);
  return priced.map(({ model: { model, title }, prices }) => ({ model, title, prices }));
}

/** Returns the models that workers can generate, with their prices for the account. */
export function readSoldModels({ db, catalogue, isSold }: SoldModelDeps, accountId: string) {
  const sold = [...catalogue().models.values()].filter(({ model }) => isSold(model));
  return readPresented(db, accountId, sold);
}

async function readPresented<Named extends Model>(
  db: Database,
  accountId: string | undefined,
  models: readonly Named[],
) {
  const prices = await readCurrentAndAnnouncedPrices(db, accountId, models);
  return models.map((model) => ({ model, prices: (prices.get(model.model) ?? []).map(presentPrice) }));
}

function presentPrice({ name, when, amounts }: CataloguePrice) {
  return { name, when, rates: amounts.map(({ fromMs, ...charged }) => ({ ...charged, fromTime: fromMs })) };
}
