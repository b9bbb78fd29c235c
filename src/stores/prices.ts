import type { Model } from '../domain/models.ts';
import type { Actor } from '../domain/operator.ts';
import type { PriceSchedule } from '../domain/price.ts';
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
 * SQL for the set price that is in force by the database's clock: the latest one of a model and an account that has begun and
 * is not withdrawn. `account` is what to compare the account with; `is null` means the price for everybody. A row of its own
 * without credits ends the price before.
 */
export const inForce = (what: string, { model, account }: { readonly model: string; readonly account: string }) => `
  (select ${what} from prices decided where decided.model = ${model} and decided.account_id ${account}
    and decided.withdrawn_at is null and decided.effective_from <= now()
    order by decided.effective_from desc, decided.id desc limit 1)`;

const state = `
case when withdrawn_at is not null then 'withdrawn' when effective_from > now() then 'announced'
  when prices.id = case when account_id is null then ${inForce('id', { model: 'prices.model', account: 'is null' })}
    else ${inForce('id', { model: 'prices.model', account: '= prices.account_id' })} end then 'in_force' else 'past' end as state`;

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

const columns = 'credits_per_second, effective_from, id';
/** SQL for the decided prices of a model, the one in force and those that are announced, in order. */
const decided = (account: string) => `
  (select coalesce(json_agg(json_strip_nulls(json_build_object('creditsPerSecond', credits_per_second,
      'fromMs', floor(extract(epoch from effective_from) * 1000))) order by effective_from, id), '[]')
    from (${inForce(columns, { model: 'wanted.model', account })} union all
      (select ${columns} from prices where model = wanted.model and account_id ${account}
        and withdrawn_at is null and effective_from > now() order by effective_from, id limit ${maxAnnounced})) decided)`;

type DecidedPrices = Omit<PriceSchedule, 'listed'> & { readonly at: number };

const readDecided = many<DecidedPrices, [accountId: string | undefined, models: readonly string[]]>({
  name: 'read-price-schedules',
  text: `
select now() as at, ${decided('= $1')} as own, ${decided('is null')} as general
from unnest($2::text[]) with ordinality wanted (model, place) order by place`,
});

export type PricedModel = { readonly model: Model; readonly schedule: PriceSchedule };

/**
 * What decides the prices of these models for an account, or for one without prices of its own: the prices in force now
 * and those that are announced. `atMs` is the instant of reading by the database's clock, by which creates are charged.
 */
export async function readPriceSchedules(
  db: Database,
  accountId: string | undefined,
  models: readonly Model[],
): Promise<{ readonly atMs: number; readonly priced: readonly PricedModel[] }> {
  const rows = await readDecided(
    db,
    accountId,
    models.map(({ model }) => model),
  );
  const [first] = rows;
  if (first === undefined) throw new Error('the catalogue is empty, which its loader refuses');
  const priced = rows.flatMap(({ own, general }, place) => {
    const model = models[place];
    return model === undefined ? [] : [{ model, schedule: { own, general, listed: model.prices } }];
  });
  return { atMs: first.at, priced };
}
