import { standardPriceName } from '../../../src/catalogue/prices/model-prices.ts';
import type { Database } from '../../../src/platform/database/database.ts';

/** A price as an operator might have set it just before, so that it may begin at any instant, also in the past. */
export type DecidedLongAgo = {
  readonly model: string;
  readonly accountId?: string | undefined;
  /** `standard` by default. */
  readonly priceName?: string;
  /** Undefined if it ends the price before. */
  readonly creditsPerSecond: number | undefined;
  /** 0 by default. */
  readonly creditsPerVideo?: number | undefined;
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly isWithdrawn?: boolean;
};

const insertPrice = {
  name: 'insert-test-price',
  text: `
insert into prices (model, price_name, account_id, credits_per_second, credits_per_video, effective_from, created_at, who, reason,
  withdrawn_at, withdrawn_by)
select $1, $6, $2, $3, $7, at, at - interval '2 milliseconds', 'test', 'test',
  case when $5 then at - interval '1 millisecond' end, case when $5 then 'test' end
from to_timestamp($4::float8 / 1000) at`,
};

/** Puts the price into the table. */
export async function insertBackdatedPrice(db: Database, decided: DecidedLongAgo): Promise<void> {
  const { model, accountId, priceName = standardPriceName, creditsPerSecond, fromMs, isWithdrawn = false } = decided;
  const perVideo = creditsPerSecond === undefined ? undefined : (decided.creditsPerVideo ?? 0);
  await db.run(insertPrice, [model, accountId, creditsPerSecond, fromMs, isWithdrawn, priceName, perVideo]);
}
