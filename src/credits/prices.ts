import type { Actor } from '../operators/operator.ts';
import type { Model, Price } from '../models/model.ts';
import { findAccount } from '../accounts/accounts.ts';
import type { Database } from '../platform/database/database.ts';
import { type Done, recordAction } from '../operators/operator-actions.ts';
import { many, maybeOne } from '../platform/database/statement.ts';

/**
 * A price is set or withdrawn at least this long before it begins. When it begins, every process reads the same decision, so a task's
 * price follows from its `createdAt` alone.
 */
export const priceLeadMs = 5_000;

export const maxCreditsPerSecond = 1_000_000;
export const maxReasonLength = 500;

export const priceStates = ['announced', 'in_force', 'past', 'withdrawn'] as const;
export type PriceState = (typeof priceStates)[number];

/** An operator's price. Times are Unix milliseconds. */
export type SetPrice = {
  readonly priceId: number;
  readonly model: string;
  /** Undefined for the general price. */
  readonly accountId: string | undefined;
  /** Undefined if it ends the price before, and the general or the catalogue's price applies again. */
  readonly creditsPerSecond: number | undefined;
  readonly effectiveFrom: number;
  readonly createdAt: number;
  readonly who: string;
  readonly reason: string;
  readonly state: PriceState;
};

/**
 * SQL for a column of the set price that is in force at an instant: the latest one of a model and an account that has begun and is
 * not withdrawn. `account` is what the account is compared with; `is null` means the general price. A row without credits ends the
 * price before it.
 */
const inForce = (column: string, { model, account, at }: { model: string; account: string; at: string }) => `
  (select ${column} from prices decided where decided.model = ${model} and decided.account_id ${account}
    and decided.withdrawn_at is null and decided.effective_from <= ${at}
    order by decided.effective_from desc, decided.id desc limit 1)`;

/** SQL for the catalogue's prices of a model, a JSON array of `Price`. */
const listedPrices = (json: string) => `
  (select "creditsPerSecond", to_timestamp("fromMs" / 1000) as effective_from
    from json_to_recordset(${json}) listed ("creditsPerSecond" integer, "fromMs" float8)) listed`;

/**
 * SQL for the credits that a second costs a task created at an instant: the account's own price, else the general one, else the
 * catalogue's. Null if no price has begun. Charges and price lists use this one rule.
 */
export const creditsPerSecondAt = (of: { model: string; accountId: string; listed: string; at: string }) => `coalesce(
  ${inForce('credits_per_second', { ...of, account: `= ${of.accountId}` })},
  ${inForce('credits_per_second', { ...of, account: 'is null' })},
  (select "creditsPerSecond" from ${listedPrices(of.listed)} where effective_from <= ${of.at} order by effective_from desc limit 1))`;

const state = `
case when withdrawn_at is not null then 'withdrawn' when effective_from > now() then 'announced'
  when prices.id = case when account_id is null then ${inForce('id', { model: 'prices.model', account: 'is null', at: 'now()' })}
    else ${inForce('id', { model: 'prices.model', account: '= prices.account_id', at: 'now()' })} end then 'in_force' else 'past' end as state`;

/** The columns of `prices` as the fields of a `SetPrice`. */
const priceColumns = `prices.id as "priceId", model, account_id as "accountId", credits_per_second as "creditsPerSecond",
  effective_from as "effectiveFrom", prices.created_at as "createdAt", who, reason`;

export type NewPrice = Pick<SetPrice, 'model' | 'accountId' | 'creditsPerSecond' | 'who' | 'reason'> & {
  /** Unix milliseconds by the database's clock; as soon as possible by default. */
  readonly fromMs?: number | undefined;
  readonly leadMs?: number;
};

// Whole milliseconds, so that readers and the accept statement use the same instant.
const insertPrice = maybeOne<SetPrice, [price: NewPrice]>({
  name: 'set-price',
  text: `
insert into prices (model, account_id, credits_per_second, effective_from, created_at, who, reason)
select $1, $2, $3, date_trunc('milliseconds', greatest(to_timestamp($4::float8 / 1000),
  clock_timestamp() + ($5::integer + 1) * interval '1 millisecond')), clock_timestamp(), $6, $7
where ($4::float8 is null or to_timestamp($4::float8 / 1000) >= clock_timestamp())
  and ($2::uuid is null or exists (select from accounts where id = $2))
returning ${priceColumns}, 'announced' as state`,
  values: ({ model, accountId, creditsPerSecond, fromMs, leadMs = priceLeadMs, who, reason }) => [
    model,
    accountId,
    creditsPerSecond,
    fromMs,
    leadMs,
    who,
    reason,
  ],
});

export type PriceSetting =
  | { readonly kind: 'set'; readonly price: SetPrice }
  | { readonly kind: 'in_the_past' }
  | { readonly kind: 'account_not_found' };

/** Sets a general price or an account's own. An instant nearer than `leadMs` is postponed. The caller checks that the model exists. */
export async function setPrice(db: Database, newPrice: NewPrice): Promise<PriceSetting> {
  const price = await insertPrice(db, newPrice);
  if (price !== undefined) return { kind: 'set', price };
  const isUnknown = newPrice.accountId !== undefined && (await findAccount(db, newPrice.accountId)) === undefined;
  return { kind: isUnknown ? 'account_not_found' : 'in_the_past' };
}

const withdraw = {
  name: 'withdraw-price',
  text: `
update prices set withdrawn_at = clock_timestamp(), withdrawn_by = $2
where id = $1 and withdrawn_at is null and effective_from > clock_timestamp() + $3 * interval '1 millisecond'
returning id`,
};

export type WithdrawOutcome =
  | { readonly kind: 'withdrawn'; readonly price: SetPrice; readonly changed: boolean }
  | { readonly kind: 'too_late'; readonly price: SetPrice }
  | { readonly kind: 'price_not_found' };

/** Withdraws a price that does not begin within `leadMs`. Another price can follow one that has begun. */
export async function withdrawPrice(
  db: Database,
  { priceId, who, leadMs = priceLeadMs }: { readonly priceId: number; readonly who: string; readonly leadMs?: number },
): Promise<WithdrawOutcome> {
  const withdrawn = await db.run(withdraw, [priceId, who, leadMs]);
  const price = await findPrice(db, priceId);
  if (price === undefined) return { kind: 'price_not_found' };
  if (price.state !== 'withdrawn') return { kind: 'too_late', price };
  return { kind: 'withdrawn', price, changed: withdrawn.length > 0 };
}

const findPrice = maybeOne<SetPrice, [priceId: number]>({
  name: 'find-price',
  text: `select ${priceColumns}, ${state} from prices where id = $1`,
});

export type PriceQuery = {
  readonly model?: string | undefined;
  /** The account's own prices only. Without it, all prices are listed. */
  readonly accountId?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

/** Lists operators' prices, the newest decision first. */
export const listPrices = many<SetPrice, [query: PriceQuery]>({
  name: 'list-prices',
  plannedAnew: true,
  text: `
select ${priceColumns}, ${state} from prices
where ($1::uuid is null or account_id = $1) and ($2::text is null or model = $2) and id < $3 order by id desc limit $4`,
  values: ({ accountId, model, before = Number.MAX_SAFE_INTEGER, limit }) => [accountId, model, before, limit],
});

export function setPriceAs(db: Database, actor: Actor, newPrice: Omit<NewPrice, 'who'>): Promise<PriceSetting> {
  return recordAction<PriceSetting>(db, actor, async (transaction) => {
    const answer = await setPrice(transaction, { ...newPrice, who: authorOf(actor) });
    return answer.kind === 'set' ? { answer, done: done('prices.set', answer.price, newPrice.reason) } : { answer };
  });
}

export function withdrawPriceAs(
  db: Database,
  actor: Actor,
  { priceId, reason }: { readonly priceId: number; readonly reason: string },
): Promise<WithdrawOutcome> {
  return recordAction<WithdrawOutcome>(db, actor, async (transaction) => {
    const answer = await withdrawPrice(transaction, { priceId, who: authorOf(actor) });
    if (answer.kind !== 'withdrawn' || !answer.changed) return { answer };
    return { answer, done: done('prices.withdraw', answer.price, reason) };
  });
}

function done(action: 'prices.set' | 'prices.withdraw', price: SetPrice, reason: string): Done {
  const { priceId, model, accountId, creditsPerSecond = null, effectiveFrom } = price;
  const details = { priceId, model, creditsPerSecond, effectiveFrom, reason };
  return { action, ...(accountId !== undefined && { accountId }), details };
}

function authorOf({ kind, name }: Actor): string {
  return kind === 'command_line' ? `${name} at the command line` : name;
}

/** Bounds the announced prices of a model that are read, own and general ones each. */
const maxAnnounced = 100;

const announced = (account: string) => `
  (select effective_from from prices where model = request.model and account_id ${account}
    and withdrawn_at is null and effective_from > now() order by effective_from limit ${maxAnnounced})`;
const price = creditsPerSecondAt({ model: 'request.model', accountId: '$1', listed: 'request.listed::json', at: 'at' });

type PriceAtInstant = {
  readonly model: string;
  readonly fromMs: number;
  readonly creditsPerSecond: number | undefined;
};

const readPricesAtInstants = many<PriceAtInstant, [accountId: string | undefined, models: readonly Model[]]>({
  name: 'read-prices',
  text: `
select request.model, at as "fromMs", ${price} as "creditsPerSecond"
from unnest($2::text[], $3::text[]) with ordinality request (model, listed, position)
cross join lateral (
  select now() as at union ${announced('= $1::uuid')} union ${announced('is null')}
  union select effective_from from ${listedPrices('request.listed::json')} where effective_from > now()
) instants
order by position, at`,
  values: (accountId, models) => [
    accountId,
    models.map(({ model }) => model),
    models.map(({ prices }) => JSON.stringify(prices)),
  ],
});

/**
 * Returns the prices of each model for an account, or for accounts without prices of their own: first the one in force, then the
 * announced ones, each with the instant from which it applies.
 */
export async function readPrices(
  db: Database,
  accountId: string | undefined,
  models: readonly Model[],
): Promise<ReadonlyMap<string, readonly Price[]>> {
  const prices = new Map<string, Price[]>();
  for (const { model, fromMs, creditsPerSecond } of await readPricesAtInstants(db, accountId, models)) {
    if (creditsPerSecond === undefined) throw new Error(`no price of ${model} is in force, not even in the catalogue`);
    const ofModel = prices.get(model) ?? [];
    prices.set(model, ofModel);
    if (ofModel.at(-1)?.creditsPerSecond !== creditsPerSecond) ofModel.push({ creditsPerSecond, fromMs });
  }
  return prices;
}
