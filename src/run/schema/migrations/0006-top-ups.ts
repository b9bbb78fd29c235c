import { type Kysely, sql } from 'kysely';
import { paymentProviderNames, reversalKinds } from '../../../credits/payments/payment-provider.ts';
import { grantObstacles, settlementTriggers, topUpStates } from '../../../credits/payments/top-ups.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';

/** Purchases of credits, their refunds and disputes, and their entries in the ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table top_ups (
  id uuid primary key,
  account_id uuid not null references accounts,
  provider text not null check (provider in ${literalListSql(paymentProviderNames)}),
  is_test boolean not null,
  package text not null check (length(package) between 1 and 100),
  credits bigint not null check (credits > 0),
  -- The price in the smallest unit of the currency.
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  minor_units bigint not null check (minor_units > 0),
  state text not null default 'open' check (state in ${literalListSql(topUpStates)}),
  -- The provider's ids, once it has returned them.
  checkout_id text unique check (length(checkout_id) <= 255),
  payment_id text unique check (length(payment_id) <= 255),
  receipt_url text check (length(receipt_url) <= 2000),
  settled_by text check (settled_by in ${literalListSql(settlementTriggers)}),
  created_at timestamptz not null default now(),
  paid_at timestamptz,
  -- Counts changes of its reversals, so that an outdated view of the provider is never applied.
  reversals_version integer not null default 0,
  constraint paid_has_time_and_settler check ((state = 'paid') = (paid_at is not null and settled_by is not null))
);
create index top_ups_by_account on top_ups (account_id, id);
create index top_ups_unfinished on top_ups (id) where state in ('open', 'processing');
create index top_ups_by_payment on top_ups (paid_at) where paid_at is not null;

-- Refunds and disputes of paid top-ups.
create table top_up_reversals (
  top_up_id uuid not null references top_ups,
  -- The provider's id of the refund or dispute.
  reference text not null check (length(reference) <= 255),
  kind text not null check (kind in ${literalListSql(reversalKinds)}),
  minor_units bigint not null check (minor_units >= 0),
  -- False after the refund failed or the dispute was won.
  is_taken boolean not null,
  is_final boolean not null,
  created_at timestamptz not null default now(),
  primary key (top_up_id, reference)
);
create index top_up_reversals_open on top_up_reversals (top_up_id) where not is_final;

-- Paid checkouts of this installation that could not be granted.
create table ungranted_payments (
  checkout_id text primary key check (length(checkout_id) <= 255),
  reason text not null check (reason in ${literalListSql(grantObstacles)}),
  top_up_id uuid not null,
  account_id uuid not null,
  found_at timestamptz not null default now()
);

alter table maintenance add payments_reconciled_at timestamptz;

-- A grant and its adjustments belong to their purchase. Only a payment that was returned takes credits that are spent already.
alter table ledger_entries
  add top_up_id uuid references top_ups,
  add constraint top_up_fits_kind check (top_up_id is null or kind in ('grant', 'adjustment')),
  add constraint only_reversals_overdraw check (balance_after >= 0 or amount > 0 or (kind = 'adjustment' and top_up_id is not null));
create unique index one_grant_per_top_up on ledger_entries (top_up_id) where top_up_id is not null and kind = 'grant';
create index ledger_by_top_up on ledger_entries (top_up_id, id) where top_up_id is not null`)
    .execute(db);
}
