import { findAccount } from './accounts.ts';
import type { Database } from './database.ts';

/**
 * How far ahead a rate begins at least, and may be withdrawn at last. By then every statement sees the decision, in whatever
 * process it runs, so the rate of any task follows from its `createdAt` alone: nothing is charged by half a decision.
 */
export const rateLeadMs = 5_000;

/** Bounds of a rate, as the table has them. */
export const maxCreditsPerSecond = 1_000_000;
export const maxReasonLength = 500;

export const rateStates = ['announced', 'in_force', 'past', 'withdrawn'] as const;
export type RateState = (typeof rateStates)[number];

/** What an operator decided about a price. Times are Unix milliseconds. */
export type SetRate = {
  readonly rateId: number;
  readonly model: string;
  /** Undefined for everybody. */
  readonly accountId: string | undefined;
  /** Undefined for the end of the rate before: back to the list price. */
  readonly creditsPerSecond: number | undefined;
  readonly effectiveFrom: number;
  readonly createdAt: number;
  readonly who: string;
  readonly reason: string;
  readonly state: RateState;
};

const columns = 'rates.id, model, account_id, credits_per_second, effective_from, rates.created_at, who, reason';

type RateRow = {
  id: number;
  model: string;
  account_id: string | null;
  credits_per_second: number | null;
  effective_from: number;
  created_at: number;
  who: string;
  reason: string;
};

export type NewRate = Pick<SetRate, 'model' | 'accountId' | 'creditsPerSecond' | 'who' | 'reason'> & {
  /** Unix milliseconds by the database's clock; as soon as can be without it. */
  readonly fromMs?: number | undefined;
  readonly leadMs?: number;
};

// Whole milliseconds, so that whoever reads the instant and whoever charges by it mean the same one.
const insertRate = {
  name: 'set-rate',
  text: `
insert into rates (model, account_id, credits_per_second, effective_from, created_at, who, reason)
select $1, $2, $3, date_trunc('milliseconds', greatest(to_timestamp($4::float8 / 1000),
  clock_timestamp() + ($5::integer + 1) * interval '1 millisecond')), clock_timestamp(), $6, $7
where ($4::float8 is null or to_timestamp($4::float8 / 1000) >= clock_timestamp())
  and ($2::uuid is null or exists (select from accounts where id = $2))
returning ${columns}`,
};

export type RateSetting =
  | { readonly kind: 'set'; readonly rate: SetRate }
  /** A rate never changes what has been. */
  | { readonly kind: 'in_the_past' }
  | { readonly kind: 'account_not_found' };

/**
 * Decides what a second of a model costs from an instant on, for one account or everybody; tasks created before keep what they
 * were charged. An instant that is nearer than the lead becomes that, and the answer says so. Whether there is
 * such a model is for the caller to know.
 */
export async function setRate(db: Database, rate: NewRate): Promise<RateSetting> {
  const { model, accountId, creditsPerSecond, fromMs, who, reason, leadMs = rateLeadMs } = rate;
  const values = [model, accountId, creditsPerSecond, fromMs, leadMs, who, reason];
  const [row] = await db.run<RateRow>(insertRate, values);
  if (row !== undefined) return { kind: 'set', rate: rateFromRow({ ...row, state: 'announced' }) };
  const isUnknown = accountId !== undefined && (await findAccount(db, accountId)) === undefined;
  return { kind: isUnknown ? 'account_not_found' : 'in_the_past' };
}

const withdraw = {
  name: 'withdraw-rate',
  text: `
update rates set withdrawn_at = clock_timestamp(), withdrawn_by = $2
where id = $1 and withdrawn_at is null and effective_from > clock_timestamp() + $3 * interval '1 millisecond'
returning id`,
};

export type RateWithdrawal =
  | { readonly kind: 'withdrawn'; readonly rate: SetRate; readonly changed: boolean }
  | { readonly kind: 'too_late'; readonly rate: SetRate }
  | { readonly kind: 'price_not_found' };

/** Takes back a rate that does not count yet. One that does, or will within the lead, stays: another one may follow it. */
export async function withdrawRate(
  db: Database,
  { rateId, who, leadMs = rateLeadMs }: { readonly rateId: number; readonly who: string; readonly leadMs?: number },
): Promise<RateWithdrawal> {
  const withdrawn = await db.run(withdraw, [rateId, who, leadMs]);
  const [row] = await db.run<RateRow & { state: RateState }>(selectRate, [rateId]);
  if (row === undefined) return { kind: 'price_not_found' };
  const rate = rateFromRow(row);
  if (rate.state !== 'withdrawn') return { kind: 'too_late', rate };
  return { kind: 'withdrawn', rate, changed: withdrawn.length > 0 };
}

const inForceOf = (scope: string) => `
  (select id from rates other where other.model = rates.model and ${scope} and other.withdrawn_at is null
    and other.effective_from <= now() order by other.effective_from desc, other.id desc limit 1)`;
const state = `
case when withdrawn_at is not null then 'withdrawn' when effective_from > now() then 'announced'
  when rates.id = case when account_id is null then ${inForceOf('other.account_id is null')}
    else ${inForceOf('other.account_id = rates.account_id')} end then 'in_force' else 'past' end as state`;

const selectRate = { name: 'find-rate', text: `select ${columns}, ${state} from rates where id = $1` };

const selectRates = {
  name: 'list-rates',
  text: `
select ${columns}, ${state} from rates
where id < $1 and ($2::text is null or model = $2) order by id desc limit $3`,
};
const selectRatesOf = {
  name: 'list-rates-of-account',
  text: `
select ${columns}, ${state} from rates
where account_id = $4 and id < $1 and ($2::text is null or model = $2) order by id desc limit $3`,
};

export type RateQuery = {
  readonly model?: string | undefined;
  /** The rates of this account alone; without it everybody's, those of accounts among them. */
  readonly accountId?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

/** What was decided, the newest decision first: a page of at most `limit` before the given one. */
export async function listRates(
  db: Database,
  { model, accountId, before = Number.MAX_SAFE_INTEGER, limit }: RateQuery,
): Promise<readonly SetRate[]> {
  type Row = RateRow & { state: RateState };
  const values = [before, model, limit];
  const rows =
    accountId === undefined
      ? await db.run<Row>(selectRates, values)
      : await db.run<Row>(selectRatesOf, [...values, accountId]);
  return rows.map(rateFromRow);
}

function rateFromRow(row: RateRow & { readonly state: RateState }): SetRate {
  return {
    rateId: row.id,
    model: row.model,
    accountId: row.account_id ?? undefined,
    creditsPerSecond: row.credits_per_second ?? undefined,
    effectiveFrom: row.effective_from,
    createdAt: row.created_at,
    who: row.who,
    reason: row.reason,
    state: row.state,
  };
}
