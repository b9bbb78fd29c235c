import { type Kysely, sql } from 'kysely';
import type { OnlineChange } from '../online-changes.ts';

/** Retention of personal data, and the erasure of a person. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- Since when the person has had neither an account nor the operator's right; null for one who has.
alter table users add column unattached_since timestamptz default now();
-- A record of what an erased person did keeps their id, which then refers to nothing.
alter table operator_actions drop constraint operator_actions_user_id_fkey;
-- Records stay append-only, except in a transaction that says that it erases a person or deletes what is past its retention.
drop trigger security_events_are_append_only on security_events;
create trigger security_events_are_append_only before update or delete or truncate on security_events for each statement
  when (current_setting('videogen.erasure', true) is distinct from 'on') execute function refuse_change();
drop trigger operator_actions_are_append_only on operator_actions;
create trigger operator_actions_are_append_only before delete or truncate on operator_actions
  for each statement execute function refuse_change();
create trigger operator_actions_change_by_erasure_only before update on operator_actions for each statement
  when (current_setting('videogen.erasure', true) is distinct from 'on') execute function refuse_change();
create or replace function refuse_change_of_price() returns trigger language plpgsql as $$
declare
  is_erasure boolean := coalesce(current_setting('videogen.erasure', true) = 'on', false);
  may_change text[] := array['withdrawn_by', case when is_erasure then 'who' else 'withdrawn_at' end];
begin
  if (not is_erasure and (old.withdrawn_at is not null or old.effective_from <= now()))
    or (to_jsonb(new) - may_change) is distinct from (to_jsonb(old) - may_change)
  then
    raise exception 'price % can not be changed any more', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$`.execute(db);
}

export const onlineChanges: readonly OnlineChange[] = [
  { index: 'users_unattached', on: 'users (unattached_since) where unattached_since is not null' },
  { index: 'one_time_links_by_expiry', on: 'one_time_links (expires_at)' },
  { index: 'security_events_by_time', on: 'security_events (created_at)' },
  { index: 'security_events_by_email', on: 'security_events (email) where email is not null' },
  { index: 'security_events_by_actor', on: 'security_events (actor) where actor is not null' },
  {
    index: 'operator_actions_by_email',
    on: `operator_actions ((details->>'email')) where details->>'email' is not null`,
  },
  {
    index: 'operator_actions_of_erasures',
    on: `operator_actions ((details->>'userId')) where action = 'people.erase'`,
  },
  {
    index: 'tasks_with_content',
    on: 'tasks (completed_at) where completed_at is not null and content_deleted_at is null',
  },
];
