import { type Kysely, sql } from 'kysely';
import { capInForceSql } from '../../../accounts/limits/spend-caps.ts';

/**
 * The identity of this installation. Its result store has the same id in a file, and its workers use the same Temporal namespace. Both are
 * claimed by the first process that starts. Also ends the caps of former members.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create table installation (
  id uuid not null default gen_random_uuid(),
  claimed_at timestamptz,
  marked_at timestamptz,
  temporal_namespace text,
  is_only boolean primary key default true check (is_only)
);
insert into installation default values;

-- The caps of former members refuse nothing, so their accounts need no transaction under a lock for each create.
create function recount_caps_of_member() returns trigger language plpgsql as $$
declare
  member record := case tg_op when 'DELETE' then old else new end;
begin
  update accounts set capped = exists (select from spend_caps where account_id = member.account_id and ${capInForceSql})
  where id = member.account_id and exists (
    select from spend_caps
    where account_id = member.account_id and subject_kind = 'member' and subject_id = member.user_id);
  return null;
end $$;
create trigger caps_follow_members after insert or delete on memberships
  for each row execute function recount_caps_of_member();
update accounts set capped = false
where capped and not exists (select from spend_caps where account_id = accounts.id and ${capInForceSql})`)
    .execute(db);
}
