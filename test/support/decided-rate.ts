import type { Database } from '../../src/stores/database.ts';

/** A rate as an operator might have decided it just before, so that it may begin at any instant, also in the past. */
export type DecidedLongAgo = {
  readonly model: string;
  readonly accountId?: string | undefined;
  readonly creditsPerSecond: number | undefined;
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly isWithdrawn?: boolean;
};

const insertRate = {
  name: 'insert-test-rate',
  text: `
insert into rates (model, account_id, credits_per_second, effective_from, created_at, who, reason, withdrawn_at, withdrawn_by)
select $1, $2, $3, at, at - interval '2 milliseconds', 'test', 'test',
  case when $5 then at - interval '1 millisecond' end, case when $5 then 'test' end
from to_timestamp($4::float8 / 1000) at`,
};

/** Puts the rate into the table. */
export async function insertDecidedRate(
  db: Database,
  { model, accountId, creditsPerSecond, fromMs, isWithdrawn = false }: DecidedLongAgo,
): Promise<void> {
  await db.run(insertRate, [model, accountId, creditsPerSecond, fromMs, isWithdrawn]);
}
