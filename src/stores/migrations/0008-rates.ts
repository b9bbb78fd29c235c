import { type Kysely, sql } from 'kysely';

/** What operators decide about prices, beside the catalogue file: for everybody or for one account, from when on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- Two indexes for one look-up each, because PostgreSQL does not see that rows with "account_id is null" are in order: with one it
-- would sort all the rates that ever were for everybody, at each create.
-- A rate without credits ends the one before it: an account goes back to the list price, everybody to that of the file.
create table rates (
  id bigint generated always as identity primary key,
  model text not null check (length(model) between 1 and 100),
  account_id uuid references accounts,
  credits_per_second integer check (credits_per_second between 1 and 1000000),
  effective_from timestamptz not null,
  created_at timestamptz not null default now(),
  who text not null check (length(who) between 1 and 300),
  reason text not null check (length(reason) between 1 and 500),
  withdrawn_at timestamptz,
  withdrawn_by text check (length(withdrawn_by) between 1 and 300),
  constraint rate_comes_after_its_decision check (effective_from > created_at),
  constraint withdrawn_before_it_counted check (withdrawn_at < effective_from),
  constraint withdrawn_by_somebody check ((withdrawn_at is null) = (withdrawn_by is null))
);
create index general_rates on rates (model, effective_from desc, id desc) where account_id is null and withdrawn_at is null;
create index own_rates on rates (account_id, model, effective_from desc, id desc) where withdrawn_at is null;
create index rates_by_account on rates (account_id, id);
-- What was charged must be explicable for ever: a rate that has counted stays, and one that has not can only be withdrawn.
create function refuse_change_of_rate() returns trigger language plpgsql as $$
begin
  if old.withdrawn_at is not null or old.effective_from <= now()
    or (to_jsonb(new) - 'withdrawn_at' - 'withdrawn_by') is distinct from (to_jsonb(old) - 'withdrawn_at' - 'withdrawn_by')
  then
    raise exception 'rate % can not be changed any more', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger rates_are_only_withdrawn before update on rates for each row execute function refuse_change_of_rate();
create trigger rates_are_kept before delete or truncate on rates for each statement execute function refuse_change()`.execute(
    db,
  );
}
