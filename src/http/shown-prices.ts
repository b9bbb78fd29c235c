import { z } from 'zod';
import type { ModelCatalogue } from '../domain/models.ts';
import { comingPrices, priceAt } from '../domain/price.ts';
import type { Database } from '../stores/database.ts';
import { readPriceSchedules } from '../stores/price-schedules.ts';

const comingPrice = z.strictObject({ creditsPerSecond: z.int().positive(), fromTime: z.int().nonnegative() });

/** What a model costs an account, now and as far as it is announced. */
export const priceFields = {
  creditsPerSecond: z.int().positive().meta({ description: "The account's rate that is in force now." }),
  nextRates: z
    .array(comingPrice)
    .meta({ description: 'Rates that come into force later; a task keeps that of its creation.' }),
};

export type ShownPrice = {
  readonly model: string;
  readonly title: string;
  readonly creditsPerSecond: number;
  readonly nextRates: z.output<typeof comingPrice>[];
};

/** The prices of every model, for an account or, without one, for accounts that have no rates of their own. */
export async function shownPrices(
  { db, models }: { readonly db: Database; readonly models: ModelCatalogue },
  accountId: string | undefined,
): Promise<readonly ShownPrice[]> {
  const { atMs, priced } = await readPriceSchedules(db, accountId, [...models.values()]);
  return priced.map(({ model: { model, title }, schedule }) => ({
    model,
    title,
    creditsPerSecond: priceAt(schedule, atMs),
    nextRates: comingPrices(schedule, atMs).map(({ creditsPerSecond, fromMs: fromTime }) => ({
      creditsPerSecond,
      fromTime,
    })),
  }));
}
