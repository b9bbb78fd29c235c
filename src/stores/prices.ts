import type { Actor } from '../domain/operator.ts';
import type { Model, Price } from '../domain/models.ts';
import { findAccount } from './accounts.ts';
import type { Database } from './database.ts';
import { type Done, recordAction } from './operator-actions.ts';
import { many, maybeOne } from './statement.ts';

/**
 * A price begins, and may be withdrawn, at least so long ahead. When it begins, every statement of every process sees the
 * decision, so the price of any task follows from its `createdAt` alone: nothing is charged by half a decision.
 */
export const priceLeadMs = 5_000;

/** Bounds of a price, as the table `prices` has them. */
export const maxCreditsPerSecond = 1_000_000;
export const maxReasonLength = 500;

export const priceStates = ['announced', 'in_force', 'past', 'withdrawn'] as const;
export type PriceState = (typeof priceStates)[number];

/** A price that an operator has set. Times are Unix milliseconds. */
export type SetPrice = {
  readonly priceId: number;
  readonly model: string;
  /** Undefined for everybody. */
  readonly accountId: string | undefined;
  /** Undefined for the end of the price before: back to the catalogue's. */
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
  /** Unix milliseconds by the database's clock; as soon as possible without it. */
  readonly fromMs?: number | undefined;
  readonly leadMs?: number;
};

// Whole milliseconds, so that those who read the instant and the statement that charges by it mean the same one.
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
  /** A price never changes what has been. */
  | { readonly kind: 'in_the_past' }
  | { readonly kind: 'account_not_found' };

/**
 * Decides what a second of a model costs from an instant on, for one account or everybody; tasks created before keep what they
 * were charged. An instant nearer than `leadMs` is moved to it, and the answer says so. The caller checks that the model exists.
 */
export async function setPrice(db: Database, wanted: NewPrice): Promise<PriceSetting> {
  const price = await insertPrice(db, wanted);
  if (price !== undefined) return { kind: 'set', price };
  const isUnknown = wanted.accountId !== undefined && (await findAccount(db, wanted.accountId)) === undefined;
  return { kind: isUnknown ? 'account_not_found' : 'in_the_past' };
}

const withdraw = {
  name: 'withdraw-price',
  text: `
update prices set withdrawn_at = clock_timestamp(), withdrawn_by = $2
where id = $1 and withdrawn_at is null and effective_from > clock_timestamp() + $3 * interval '1 millisecond'
returning id`,
};

export type PriceWithdrawal =
  | { readonly kind: 'withdrawn'; readonly price: SetPrice; readonly changed: boolean }
  | { readonly kind: 'too_late'; readonly price: SetPrice }
  | { readonly kind: 'price_not_found' };

/** Withdraws a price that has not begun. One that has, or will within `leadMs`, stays: another one may follow it. */
export async function withdrawPrice(
  db: Database,
  { priceId, who, leadMs = priceLeadMs }: { readonly priceId: number; readonly who: string; readonly leadMs?: number },
): Promise<PriceWithdrawal> {
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
  /** The prices of this account alone; without it all, those of accounts among them. */
  readonly accountId?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

/** What was decided, the newest decision first: a page of at most `limit` before the given one. */
export const listPrices = many<SetPrice, [query: PriceQuery]>({
  name: 'list-prices',
  plannedAnew: true,
  text: `
select ${priceColumns}, ${state} from prices
where ($1::uuid is null or account_id = $1) and ($2::text is null or model = $2) and id < $3 order by id desc limit $4`,
  values: ({ accountId, model, before = Number.MAX_SAFE_INTEGER, limit }) => [accountId, model, before, limit],
});

/** As `setPrice`, for an operator, and in the audit log. */
export function setPriceAs(db: Database, actor: Actor, wanted: Omit<NewPrice, 'who'>): Promise<PriceSetting> {
  return recordAction<PriceSetting>(db, actor, async (transaction) => {
    const answer = await setPrice(transaction, { ...wanted, who: whoIs(actor) });
    return answer.kind === 'set' ? { answer, done: done('prices.set', answer.price, wanted.reason) } : { answer };
  });
}

/** As `withdrawPrice`, for an operator, and in the audit log. */
export function withdrawPriceAs(
  db: Database,
  actor: Actor,
  { priceId, reason }: { readonly priceId: number; readonly reason: string },
): Promise<PriceWithdrawal> {
  return recordAction<PriceWithdrawal>(db, actor, async (transaction) => {
    const answer = await withdrawPrice(transaction, { priceId, who: whoIs(actor) });
    if (answer.kind !== 'withdrawn' || !answer.changed) return { answer };
    return { answer, done: done('prices.withdraw', answer.price, reason) };
  });
}

function done(action: 'prices.set' | 'prices.withdraw', price: SetPrice, reason: string): Done {
  const { priceId, model, accountId, creditsPerSecond = null, effectiveFrom } = price;
  const details = { priceId, model, creditsPerSecond, effectiveFrom, reason };
  return { action, ...(accountId !== undefined && { accountId }), details };
}

function whoIs({ kind, name }: Actor): string {
  return kind === 'command_line' ? `${name} at the command line` : name;
}

/** Announced prices of one model that are read at most, for one account and as many for everybody. */
const maxAnnounced = 100;

const announced = (account: string) => `
  (select effective_from from prices where model = wanted.model and account_id ${account}
    and withdrawn_at is null and effective_from > now() order by effective_from limit ${maxAnnounced})`;
const price = creditsPerSecondAt({ model: 'wanted.model', accountId: '$1', listed: 'wanted.listed::json', at: 'at' });

type PriceAtInstant = {
  readonly model: string;
  readonly fromMs: number;
  readonly creditsPerSecond: number | undefined;
};

const readPricesAtInstants = many<PriceAtInstant, [accountId: string | undefined, models: readonly Model[]]>({
  name: 'read-prices',
  text: `
select wanted.model, at as "fromMs", ${price} as "creditsPerSecond"
from unnest($2::text[], $3::text[]) with ordinality wanted (model, listed, place)
cross join lateral (
  select now() as at union ${announced('= $1::uuid')} union ${announced('is null')}
  union select effective_from from ${listedPrices('wanted.listed::json')} where effective_from > now()
) instants
order by place, at`,
  values: (accountId, models) => [
    accountId,
    models.map(({ model }) => model),
    models.map(({ prices }) => JSON.stringify(prices)),
  ],
});

/**
 * What a second of each model costs an account, or one without prices of its own: first the price in force now, then those that are
 * announced, each with the instant from which it counts by the database's clock.
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
