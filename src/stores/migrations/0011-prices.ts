import { type Kysely, sql } from 'kysely';

/** What a second of video costs is a price; a rate is a limit of requests. The table and everything of it get that name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
alter table rates rename to prices;
alter sequence rates_id_seq rename to prices_id_seq;
alter index general_rates rename to general_prices;
alter index own_rates rename to own_prices;
alter index rates_by_account rename to prices_by_account;
alter trigger rates_are_only_withdrawn on prices rename to prices_are_only_withdrawn;
alter trigger rates_are_kept on prices rename to prices_are_kept;
-- From PostgreSQL 18 on, "not null" is a constraint with a name as well, so they are not listed here.
do $$
declare
  old_name text;
begin
  for old_name in select conname from pg_constraint where conrelid = 'prices'::regclass and conname ~ '^rates?_' loop
    execute format('alter table prices rename constraint %I to %I', old_name, regexp_replace(old_name, '^rate', 'price'));
  end loop;
end $$;
-- The function of 0008 with another name and message.
alter function refuse_change_of_rate() rename to refuse_change_of_price;
do $$
begin
  execute replace(pg_get_functiondef('refuse_change_of_price'::regproc), '''rate %', '''price %');
end $$`.execute(db);
}
