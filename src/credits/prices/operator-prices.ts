import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { findAccount } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { type DoneAction, changeWithAudit } from '../../accounts/operators/audit-log.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne } from '../../platform/database/declare-statements.ts';
import { operatorsPriceSql } from './task-price-sql-and-quote.ts';

/**
 * A price is set or withdrawn at least this long before it begins. When it begins, every process reads the same decision, so a task's
 * price follows from its `createdAt` alone.
 */
export const priceLeadMs = 5_000;

export const maxPriceReasonLength = 500;

export const priceStates = ['announced', 'in_force', 'past', 'withdrawn'] as const;
export type PriceState = (typeof priceStates)[number];

/** An operator's price. Times are Unix milliseconds. */
export type OperatorPrice = {
  readonly priceId: number;
  readonly model: string;
  readonly priceName: string;
  /** Undefined for the general price. */
  readonly accountId: string | undefined;
  readonly accountName: string | undefined;
  /** Both are undefined if it ends the price before, and the general or the catalogue's price applies again. */
  readonly creditsPerSecond: number | undefined;
  readonly creditsPerVideo: number | undefined;
  readonly effectiveFrom: number;
  readonly createdAt: number;
  readonly who: string;
  readonly reason: string;
  readonly state: PriceState;
};

const inForce = (account: string) =>
  operatorsPriceSql('id', { model: 'prices.model', name: 'prices.price_name', account, at: 'now()' });

const state = `
case when withdrawn_at is not null then 'withdrawn' when effective_from > now() then 'announced'
  when prices.id = case when account_id is null then ${inForce('is null')} else ${inForce('= prices.account_id')} end then 'in_force'
  else 'past' end as state`;

const priceColumns = `prices.id as "priceId", model, price_name as "priceName", account_id as "accountId",
  (select name from accounts where accounts.id = prices.account_id) as "accountName", credits_per_second as "creditsPerSecond", credits_per_video as "creditsPerVideo", effective_from as "effectiveFrom", prices.created_at as "createdAt", who, reason`;

export type NewPrice = Pick<
  OperatorPrice,
  'model' | 'priceName' | 'accountId' | 'creditsPerSecond' | 'creditsPerVideo' | 'who' | 'reason'
> & {
  /** Unix milliseconds by the database's clock; as soon as possible by default. */
  readonly fromMs?: number | undefined;
  readonly leadMs?: number;
};

// Whole milliseconds, so that readers and the accept statement use the same instant.
const insertPrice = maybeOne<OperatorPrice, [price: NewPrice]>({
  name: 'set-price',
  text: `
insert into prices (model, price_name, account_id, credits_per_second, credits_per_video, effective_from, created_at, who, reason)
select $1, $2, $3, $4, $5, date_trunc('milliseconds', greatest(to_timestamp($6::float8 / 1000),
  clock_timestamp() + ($7::integer + 1) * interval '1 millisecond')), clock_timestamp(), $8, $9
where ($6::float8 is null or to_timestamp($6::float8 / 1000) >= clock_timestamp())
  and ($3::uuid is null or exists (select from accounts where id = $3))
returning ${priceColumns}, 'announced' as state`,
  values: ({ leadMs = priceLeadMs, ...price }) => [
    ...pickFieldValues(price, 'model', 'priceName', 'accountId', 'creditsPerSecond', 'creditsPerVideo', 'fromMs'),
    leadMs,
    price.who,
    price.reason,
  ],
});

export type SetPriceOutcome =
  | { readonly kind: 'set'; readonly price: OperatorPrice }
  | { readonly kind: 'in_the_past' }
  | { readonly kind: 'account_not_found' };

/** Sets a general price or an account's own. An instant nearer than `leadMs` is postponed. The caller checks that the model has the price. */
export async function setPrice(db: Database, newPrice: NewPrice): Promise<SetPriceOutcome> {
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

export type WithdrawPriceOutcome =
  | { readonly kind: 'withdrawn'; readonly price: OperatorPrice; readonly changed: boolean }
  | { readonly kind: 'too_late'; readonly price: OperatorPrice }
  | { readonly kind: 'price_not_found' };

/** Withdraws a price that does not begin within `leadMs`. One that has begun can only be followed by another price. */
export async function withdrawPrice(
  db: Database,
  { priceId, who, leadMs = priceLeadMs }: { readonly priceId: number; readonly who: string; readonly leadMs?: number },
): Promise<WithdrawPriceOutcome> {
  const withdrawn = await db.run(withdraw, [priceId, who, leadMs]);
  const price = await findPrice(db, priceId);
  if (price === undefined) return { kind: 'price_not_found' };
  if (price.state !== 'withdrawn') return { kind: 'too_late', price };
  return { kind: 'withdrawn', price, changed: withdrawn.length > 0 };
}

const findPrice = maybeOne<OperatorPrice, [priceId: number]>({
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

export const listOperatorPrices = many<OperatorPrice, [query: PriceQuery]>({
  name: 'list-prices',
  plannedAnew: true,
  text: `
select ${priceColumns}, ${state} from prices
where ($1::uuid is null or account_id = $1) and ($2::text is null or model = $2) and id < $3 order by id desc limit $4`,
  values: ({ accountId, model, before = Number.MAX_SAFE_INTEGER, limit }) => [accountId, model, before, limit],
});

/** A price that operators set, and the number of accounts that have one of their own. */
export type OperatorPriceNameWithAccounts = Pick<OperatorPrice, 'model' | 'priceName'> & { readonly accounts: number };

/** Lists the prices whose amounts operators have set, in force or announced. */
export const listActiveOperatorPriceNames = many<OperatorPriceNameWithAccounts>({
  name: 'list-set-price-names',
  plannedAnew: true,
  text: `
select model, price_name as "priceName", count(account_id)::integer as accounts
from (select model, price_name, account_id, credits_per_second, ${state} from prices) decided
where state in ('announced', 'in_force') and credits_per_second is not null
group by model, price_name order by model, price_name`,
});

/** Undefined if operators never set this price. It may have left the catalogue since. */
export const findPriceEverSet = maybeOne<
  Pick<OperatorPrice, 'priceId'>,
  [price: Pick<OperatorPrice, 'model' | 'priceName'>]
>({
  name: 'find-set-price',
  text: `select id as "priceId" from prices where model = $1 and price_name = $2 limit 1`,
  values: ({ model, priceName }) => [model, priceName],
});

export function setPriceAs(db: Database, actor: Actor, newPrice: Omit<NewPrice, 'who'>): Promise<SetPriceOutcome> {
  return changeWithAudit<SetPriceOutcome>(db, actor, async (transaction) => {
    const answer = await setPrice(transaction, { ...newPrice, who: authorOf(actor) });
    return answer.kind === 'set' ? { answer, done: done('prices.set', answer.price, newPrice.reason) } : { answer };
  });
}

export function withdrawPriceAs(
  db: Database,
  actor: Actor,
  { priceId, reason }: { readonly priceId: number; readonly reason: string },
): Promise<WithdrawPriceOutcome> {
  return changeWithAudit<WithdrawPriceOutcome>(db, actor, async (transaction) => {
    const answer = await withdrawPrice(transaction, { priceId, who: authorOf(actor) });
    if (answer.kind !== 'withdrawn' || !answer.changed) return { answer };
    return { answer, done: done('prices.withdraw', answer.price, reason) };
  });
}

function done(action: 'prices.set' | 'prices.withdraw', price: OperatorPrice, reason: string): DoneAction {
  const { priceId, model, priceName, accountId, effectiveFrom } = price;
  const { creditsPerSecond = null, creditsPerVideo = null } = price;
  const details = { priceId, model, priceName, creditsPerSecond, creditsPerVideo, effectiveFrom, reason };
  return { action, ...(accountId !== undefined && { accountId }), details };
}

function authorOf({ kind, name }: Actor): string {
  return kind === 'command_line' ? `${name} at the command line` : name;
}
