import type { AmountsWithPriceName } from '../../catalogue/prices/model-prices.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';

// The price of a task. Charges, quotes and price lists use this one rule: the first of the listed prices that has begun applies, and
// its amounts are the account's own ones, else the general ones that operators set, else those of the catalogue.

type PriceKey = { readonly model: string; readonly name: string; readonly account: string; readonly at: string };

/**
 * SQL for columns of the operators' price that is in force at an instant: the latest one of a model, a price and an account that has begun
 * and is not withdrawn. `account` is the condition on the account, such as `is null` for the general price. A row without credits ends the
 * price before it.
 */
export const operatorsPriceSql = (columns: string, { model, name, account, at }: PriceKey) => `
  (select ${columns} from prices decided where decided.model = ${model} and decided.price_name = ${name}
    and decided.account_id ${account} and decided.withdrawn_at is null and decided.effective_from <= ${at}
    order by decided.effective_from desc, decided.id desc limit 1)`;

/** SQL for a table of `AmountsWithPriceName`, from JSON. */
export const listedPricesFromJsonSql = (json: string) => `
  rows from (json_to_recordset(${json}) as (name text, "creditsPerSecond" integer, "creditsPerVideo" integer, "fromMs" float8))
    with ordinality as listed (name, credits_per_second, credits_per_video, from_ms, nth)`;

export const listedBeginSql = 'to_timestamp(listed.from_ms / 1000)';

type Priced = { readonly model: string; readonly accountId: string; readonly listed: string; readonly at: string };

/** SQL for one row with the price of a task that is created at an instant, and none if no listed price has begun. */
export const taskPriceSql = ({ model, accountId, listed, at }: Priced) => {
  const columns = 'credits_per_second, credits_per_video, effective_from';
  const decided = { model, name: 'first.name', at };
  return `(
  select first.name as price_name,
    coalesce(own.credits_per_second, general.credits_per_second, first.credits_per_second) as credits_per_second,
    coalesce(own.credits_per_video, general.credits_per_video, first.credits_per_video) as credits_per_video,
    greatest(first.effective_from, own.effective_from, case when own.credits_per_second is null then general.effective_from end) as since
  from (
    select listed.*, ${listedBeginSql} as effective_from from ${listedPricesFromJsonSql(listed)}
    where ${listedBeginSql} <= ${at} order by nth limit 1
  ) first
  left join lateral ${operatorsPriceSql(columns, { ...decided, account: `= ${accountId}` })} own on true
  left join lateral ${operatorsPriceSql(columns, { ...decided, account: 'is null' })} general on true)`;
};

/** The price of a task that is not created yet. */
export type Quote = {
  readonly priceName: string;
  readonly creditsPerSecond: number;
  readonly creditsPerVideo: number;
  readonly credits: number;
};

export type QuotedTask = {
  readonly accountId: string;
  readonly model: string;
  readonly durationSeconds: number;
  /** The prices that may apply to its input, in the order in which they are decided. */
  readonly listedPrices: readonly AmountsWithPriceName[];
};

/** Returns what a task would be charged if it was created now; undefined if no price has begun. */
export const quoteTask = maybeOne<Quote, [task: QuotedTask]>({
  name: 'quote-task',
  text: `
select price_name as "priceName", credits_per_second as "creditsPerSecond", credits_per_video as "creditsPerVideo",
  $3::integer * credits_per_second + credits_per_video as credits
from ${taskPriceSql({ model: '$1::text', accountId: '$2::uuid', listed: '$4::json', at: 'now()' })} price`,
  values: ({ listedPrices, ...task }) => [
    ...pickFieldValues(task, 'model', 'accountId', 'durationSeconds'),
    JSON.stringify(listedPrices),
  ],
});
