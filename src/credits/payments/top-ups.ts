import { v7 as uuidv7 } from 'uuid';
import { lockOpenAccount } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';
import type { CreditPackage } from '../../catalogue/file/packages-schema.ts';
import type { Order, PaymentProvider, PaymentProviderName, PaymentState } from './payment-provider.ts';

// Purchases of credits. The row is written before the provider is called, and its id is the provider's idempotency key.

export const topUpStates = [
  'open',
  'processing',
  'paid',
  'failed',
  'expired',
] as const satisfies readonly PaymentState[];

/** Payments are settled by an event of the provider, or by reconciliation if none has arrived. */
export const settlementTriggers = ['event', 'reconciliation'] as const;
export type SettlementTrigger = (typeof settlementTriggers)[number];

export const grantObstacles = [
  'account_not_found',
  'amount_differs',
  'other_checkout',
  'balance_out_of_range',
] as const;
export type GrantObstacle = (typeof grantObstacles)[number];

/** Times are Unix milliseconds. */
export type TopUp = Order & {
  readonly provider: PaymentProviderName;
  readonly isTest: boolean;
  readonly state: PaymentState;
  readonly checkoutId: string | undefined;
  readonly paymentId: string | undefined;
  readonly receiptUrl: string | undefined;
  readonly settledBy: SettlementTrigger | undefined;
  readonly createdAt: number;
  readonly paidAt: number | undefined;
  /** Credits that refunds and disputes have taken back. */
  readonly reversedCredits: number;
};

export const topUpColumns = `id as "topUpId", account_id as "accountId", provider, is_test as "isTest", package, credits, currency,
  minor_units as "minorUnits", state, checkout_id as "checkoutId", payment_id as "paymentId", receipt_url as "receiptUrl",
  settled_by as "settledBy", created_at as "createdAt", paid_at as "paidAt",
  (select -coalesce(sum(amount), 0) from ledger_entries where top_up_id = top_ups.id and kind = 'adjustment')::bigint
    as "reversedCredits"`;

/** The most unpaid checkouts of an account; they expire within a day. */
export const maxOpenTopUps = 20;

export type TopUpOrderOutcome =
  | { readonly kind: 'opened'; readonly order: Order }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'too_many_top_ups' };

const countOpen = one<{ readonly count: number }, [accountId: string]>({
  name: 'count-open-top-ups',
  text: `select count(*)::int as count from top_ups where account_id = $1 and state = 'open'`,
});

export const insertTopUpRow = noRows<[order: Order, by: Pick<PaymentProvider, 'name' | 'isTest'>]>({
  name: 'create-top-up',
  text: `
insert into top_ups (id, account_id, package, credits, currency, minor_units, provider, is_test)
select $1, id, $3, $4, $5, $6, $7, $8 from accounts where id = $2
on conflict do nothing`,
  values: (order, by) => [
    ...pickFieldValues(order, 'topUpId', 'accountId', 'package', 'credits', 'currency', 'minorUnits'),
    ...pickFieldValues(by, 'name', 'isTest'),
  ],
});

/** Writes the order of a package. Throws `AccountClosedError`. */
export function createTopUpOrder(
  db: Database,
  provider: Pick<PaymentProvider, 'name' | 'isTest'>,
  { accountId, name, offer }: { readonly accountId: string; readonly name: string; readonly offer: CreditPackage },
): Promise<TopUpOrderOutcome> {
  return db.transaction<TopUpOrderOutcome>(async (run) => {
    const account = await lockOpenAccount({ run }, accountId);
    if (account === undefined) throw new Error(`account ${accountId} not found`);
    if (account.suspendedAt !== undefined) return { kind: 'account_suspended' };
    if ((await countOpen({ run }, accountId)).count >= maxOpenTopUps) return { kind: 'too_many_top_ups' };
    const order: Order = { topUpId: uuidv7(), accountId, package: name, credits: offer.credits, ...offer.price };
    await insertTopUpRow({ run }, order, provider);
    return { kind: 'opened', order };
  });
}

/** Stores the provider's id of the checkout, unless an event brought it before. */
export const recordCheckout = noRows<[topUpId: string, checkoutId: string]>({
  name: 'record-checkout',
  text: 'update top_ups set checkout_id = $2 where id = $1 and checkout_id is null',
});

/** Ends an open purchase that has no checkout to pay. */
export const abandonTopUp = noRows<[topUpId: string]>({
  name: 'abandon-top-up',
  text: `update top_ups set state = 'failed' where id = $1 and state = 'open'`,
});

/** Ends purchases whose checkout was never returned, so that no customer has its address. */
export const expireTopUpsWithoutCheckout = noRows<[beforeMs: number]>({
  name: 'expire-top-ups-without-checkout',
  text: `
update top_ups set state = 'expired'
where state = 'open' and checkout_id is null and created_at < to_timestamp($1::float8 / 1000)`,
});

export const expireTopUpOfUnknownCheckout = noRows<[checkoutId: string, beforeMs: number]>({
  name: 'expire-top-up-of-unknown-checkout',
  text: `
update top_ups set state = 'expired'
where state = 'open' and checkout_id = $1 and created_at < to_timestamp($2::float8 / 1000)`,
});

export const findTopUpByPayment = maybeOne<TopUp & { readonly version: number }, [paymentId: string]>({
  name: 'find-top-up-by-payment',
  text: `select ${topUpColumns}, reversals_version as version from top_ups where payment_id = $1`,
});

export type TopUpFilter = {
  readonly accountId?: string | undefined;
  readonly state?: PaymentState | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
};

export const listTopUps = many<TopUp & { readonly accountName: string }, [filter: TopUpFilter]>({
  name: 'list-top-ups',
  plannedAnew: true,
  text: `
select ${topUpColumns}, (select name from accounts where accounts.id = account_id) as "accountName" from top_ups
where ($1::uuid is null or account_id = $1) and ($2::text is null or state = $2) and ($3::uuid is null or id < $3)
order by id desc limit $4`,
  values: ({ accountId, state, before, limit }) => [accountId, state, before, limit],
});

/** Lists purchases with a checkout that were not finished some time after their creation. */
export const listUnfinishedTopUps = many<
  { readonly topUpId: string; readonly checkoutId: string },
  [createdBeforeMs: number, after: string | undefined, limit: number]
>({
  name: 'list-unfinished-top-ups',
  text: `
select id as "topUpId", checkout_id as "checkoutId" from top_ups
where state in ('open', 'processing') and checkout_id is not null and created_at < to_timestamp($1::float8 / 1000)
  and ($2::uuid is null or id > $2)
order by id limit $3`,
});
