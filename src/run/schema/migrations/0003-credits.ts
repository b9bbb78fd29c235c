import { type Kysely, sql } from 'kysely';
import { ledgerKinds } from '../../../credits/ledger/ledger-entries-and-book-credits.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';
import { maxPriceReasonLength } from '../../../credits/prices/operator-prices.ts';
import { maxPriceCredits, maxPriceNameLength } from '../../../catalogue/prices/model-prices.ts';

/** The ledger, codes, and prices. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  task_id uuid references tasks,
  kind text not null check (kind in ${literalListSql(ledgerKinds)}),
  amount bigint not null,
  balance_after bigint not null,
  reason text check (length(reason) <= 500),
  -- A key books once in the whole installation.
  idempotency_key text check (idempotency_key is null or kind in ('grant', 'adjustment')),
  created_at timestamptz not null default now(),
  constraint one_charge_one_refund unique (task_id, kind),
  constraint sign_fits_kind check (case kind when 'charge' then amount < 0 when 'adjustment' then amount <> 0 else amount > 0 end),
  constraint task_fits_kind check ((kind in ('charge', 'refund')) = (task_id is not null))
);
create unique index ledger_by_idempotency_key on ledger_entries (idempotency_key) where idempotency_key is not null;
create index ledger_by_account on ledger_entries (account_id, id);
-- Nearly all entries are charges, which a list of the others must not read. A create pays for neither index.
create index ledger_refunds_by_account on ledger_entries (account_id, id) where kind = 'refund';
create index ledger_bookings_by_account on ledger_entries (account_id, id) where kind in ('grant', 'adjustment');
create index ledger_bookings_by_time on ledger_entries (created_at) where kind not in ('charge', 'refund');
create trigger ledger_is_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();

create table code_batches (
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  credits bigint not null check (credits > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  withdrawn_at timestamptz
);
create index code_batches_by_creation on code_batches (created_at desc, id desc);

create table redemption_codes (
  hash bytea primary key check (length(hash) = 32),
  batch_id uuid not null references code_batches,
  redeemed_by uuid references accounts,
  redeemed_at timestamptz,
  constraint redeemed_by_an_account check ((redeemed_by is null) = (redeemed_at is null))
);
create index redemption_codes_by_batch on redemption_codes (batch_id);
create index redemption_codes_by_account on redemption_codes (redeemed_by) where redeemed_by is not null;

create table ledger_violations (
  rule text not null,
  account_id uuid,
  entry_id bigint,
  task_id uuid,
  detail text not null,
  found_at timestamptz not null default now(),
  constraint one_row_per_violation unique nulls not distinct (rule, account_id, entry_id, task_id)
);

-- Operators' prices: general ones, without an account, and those of one account. They replace the amounts of the catalogue's price with
-- this name. A price without credits ends the one before it.
create table prices (
  id bigint generated always as identity primary key,
  model text not null check (length(model) between 1 and 100),
  price_name text not null check (length(price_name) between 1 and ${maxPriceNameLength}),
  account_id uuid references accounts,
  credits_per_second integer check (credits_per_second between 0 and ${maxPriceCredits}),
  credits_per_video integer check (credits_per_video between 0 and ${maxPriceCredits}),
  effective_from timestamptz not null,
  created_at timestamptz not null default now(),
  who text not null check (length(who) between 1 and 300),
  reason text not null check (length(reason) between 1 and ${maxPriceReasonLength}),
  withdrawn_at timestamptz,
  withdrawn_by text check (length(withdrawn_by) between 1 and 300),
  constraint both_amounts_or_none check ((credits_per_second is null) = (credits_per_video is null)),
  constraint nothing_is_free check (credits_per_second + credits_per_video > 0),
  constraint price_begins_after_its_decision check (effective_from > created_at),
  constraint withdrawn_before_it_began check (withdrawn_at < effective_from),
  constraint withdrawn_has_author check ((withdrawn_at is null) = (withdrawn_by is null))
);
-- One index for each look-up of the accept statement: with a shared one it would sort all general prices at each create.
create index general_prices on prices (model, price_name, effective_from desc, id desc) where account_id is null and withdrawn_at is null;
create index own_prices on prices (account_id, model, price_name, effective_from desc, id desc) where withdrawn_at is null;
create index prices_by_account on prices (account_id, id);
-- A price that has begun explains charges and stays; another one can only be withdrawn. An erasure replaces names.
create function refuse_change_of_price() returns trigger language plpgsql as $$
declare
  is_erasure boolean := coalesce(current_setting('videogen.erasure', true) = 'on', false);
  may_change text[] := array['withdrawn_by', case when is_erasure then 'who' else 'withdrawn_at' end];
begin
  if (not is_erasure and (old.withdrawn_at is not null or old.effective_from <= now()))
    or (to_jsonb(new) - may_change) is distinct from (to_jsonb(old) - may_change)
  then
    raise exception 'price % cannot be changed any more', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger prices_are_only_withdrawn before update on prices for each row execute function refuse_change_of_price();
create trigger prices_are_never_deleted before delete or truncate on prices for each statement execute function refuse_change()`)
    .execute(db);
}
