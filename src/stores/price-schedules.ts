import type { Model } from '../domain/models.ts';
import type { DecidedRate, PriceSchedule } from '../domain/price.ts';
import type { Database } from './database.ts';

/** Announced rates of one model that are read at most, for one account and as many for everybody. */
const maxAnnounced = 100;

const fields = `account_id is not null as is_own, credits_per_second, effective_from, id`;
const ofThisModel = `from rates where withdrawn_at is null and model = wanted.model and`;
const inForce = `effective_from <= now() order by effective_from desc, id desc limit 1`;
const announced = `effective_from > now() order by effective_from, id limit ${maxAnnounced}`;

const selectRates = {
  name: 'read-price-schedules',
  text: `
select wanted.model, now() as at, decided.* from unnest($2::text[]) wanted (model) left join lateral (
  (select ${fields} ${ofThisModel} account_id = $1 and ${inForce})
  union all (select ${fields} ${ofThisModel} account_id is null and ${inForce})
  union all (select ${fields} ${ofThisModel} account_id = $1 and ${announced})
  union all (select ${fields} ${ofThisModel} account_id is null and ${announced})
) decided on true
order by decided.effective_from, decided.id`,
};

type Row = { model: string; at: number } & (
  | { is_own: boolean; credits_per_second: number | null; effective_from: number }
  | { is_own: null; effective_from: null }
);

export type PricedModel = { readonly model: Model; readonly schedule: PriceSchedule };

/**
 * What decides the prices of these models for an account, or for one without rates of its own: the rates in force now and
 * those that are announced. `atMs` is that now, by the database's clock, by which creates are charged.
 */
export async function readPriceSchedules(
  db: Database,
  accountId: string | undefined,
  models: readonly Model[],
): Promise<{ readonly atMs: number; readonly priced: readonly PricedModel[] }> {
  const rows = await db.run<Row>(selectRates, [accountId, models.map(({ model }) => model)]);
  const [first] = rows;
  if (first === undefined) throw new Error('the catalogue is empty, which its loader refuses');
  const priced = models.map((model) => {
    const decided = rows.filter((row) => row.model === model.model);
    const own = decided.filter((row) => row.is_own === true).flatMap(decidedRate);
    const general = decided.filter((row) => row.is_own === false).flatMap(decidedRate);
    return { model, schedule: { own, general, listed: model.rates } };
  });
  return { atMs: first.at, priced };
}

function decidedRate(row: Row): readonly DecidedRate[] {
  if (row.is_own === null) return [];
  return [{ creditsPerSecond: row.credits_per_second ?? undefined, fromMs: row.effective_from }];
}
