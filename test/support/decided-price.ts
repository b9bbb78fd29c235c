import type { Database } from '../../src/platform/database/database.ts';

/** A price as an operator might have set it just before, so that it may begin at any instant, also in the past. */
export type DecidedLongAgo = {
  readonly model: string;
  readonly accountId?: string | undefined;
  readonly creditsPerSecond: number | undefined;
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly isWithdrawn?: boolean;
};

const insertPrice = {
  name: 'insert-test-price',
  text: `
insert into prices (model, account_id, credits_per_second, effective_from, created_at, who, reason, withdrawn_at, withdrawn_by)
select $1, $2, $3, at, at - interval '2 milliseconds', 'test', 'test',
  case when $5 then at - interval '1 millisecond' end, case when $5 then 'test' end
from to_timestamp($4::float8 / 1000) at`,
};

/** Puts the price into the table. */
export async function insertDecidedPrice(
  db: Database,
  { model, accountId, creditsPerSecond, fromMs, isWithdrawn = false }: DecidedLongAgo,
): Promise<void> {
  await db.run(insertPrice, [model, accountId, creditsPerSecond, fromMs, isWithdrawn]);
}
