import { type Kysely, sql } from 'kysely';
import { capColumnsSql } from '../../../accounts/limits/spend-caps.ts';
import { deliveryStates } from '../../../tasks/callbacks/deliveries.ts';
import { eventTypes } from '../../../tasks/callbacks/account-event-types-and-body.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';

/** Callbacks and events of accounts, and what triggers the events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- Callbacks, and events of accounts, whose row is written by the statement that makes the event happen.
create table callback_deliveries (
  -- A task's callback has the id of its task, and a task's event one that is derived from it.
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  -- Null for events that are about no task.
  task_id uuid references tasks,
  -- Null for callbacks.
  event text check (event in ${literalListSql(eventTypes)}),
  -- The data of an event that is about no task.
  details json,
  url text not null,
  state text not null default 'pending' check (state in ${literalListSql(deliveryStates)}),
  -- The number of requested redeliveries. An attempt that began before a request does not end the delivery.
  redeliveries integer not null default 0 check (redeliveries >= 0),
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint finished_has_end check ((state = 'pending') = (finished_at is null)),
  constraint callback_has_id_of_task check (event is not null or (task_id is not null and id = task_id)),
  constraint details_replace_task check ((task_id is null) = (details is not null))
);
create index callback_deliveries_due on callback_deliveries (due_at, id) where state = 'pending';
create index callback_deliveries_failed on callback_deliveries (finished_at desc, id desc) where state in ('failed', 'rejected');
create index finished_notices on callback_deliveries (finished_at) where task_id is null;
create index callback_deliveries_by_account on callback_deliveries (account_id, created_at desc, id desc) where event is null;
create index callback_deliveries_undelivered_by_account on callback_deliveries (account_id, created_at desc, id desc)
  where event is null and state <> 'delivered';
-- Only accounts with an event endpoint pay for these.
create index events_by_account on callback_deliveries (account_id, created_at desc, id desc) where event is not null;
create index events_by_type on callback_deliveries (account_id, event, created_at desc, id desc) where event is not null;
create index events_undelivered_by_account on callback_deliveries (account_id, created_at desc, id desc)
  where event is not null and state <> 'delivered';

create table callback_attempts (
  -- An attempt that is recorded while its delivery is deleted goes with it.
  delivery_id uuid not null references callback_deliveries on delete cascade,
  attempt integer not null check (attempt > 0),
  started_at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  response_head bytea check (length(response_head) <= 1024),
  -- What was sent, without signatures, and the headers of the response.
  -- Above the sum of the limits in src/tasks/callbacks/recorded-exchange.ts, where a character takes six bytes at most.
  exchange json check (octet_length(exchange::text) <= 65536),
  primary key (delivery_id, attempt)
);

-- Triggers read each change of a balance and of a cap under the account's lock, whichever statement makes it, so that a crossing is one
-- event. Their conditions are all that a create pays.
create function record_low_balance() returns trigger language plpgsql as $$
begin
  insert into callback_deliveries (account_id, event, url, details)
  select account_id, 'balance.low', url, json_build_object('balance', new.balance, 'lowBalance', new.low_balance)
  from event_endpoints where account_id = new.id and 'balance.low' = any (types);
  return null;
end $$;
create trigger low_balance_is_recorded after update of balance on accounts
  for each row when (old.balance >= new.low_balance and new.balance < new.low_balance) execute function record_low_balance();

create function record_reached_cap() returns trigger language plpgsql as $$
begin
  insert into callback_deliveries (account_id, event, url, details)
  select account_id, 'key.cap_reached', url, (
    select json_build_object('subject', subject, 'subjectId', "subjectId", 'period', period, 'cap', credits, 'spent', spent,
      'resetTime', floor(extract(epoch from "resetsAt") * 1000))
    from (select ${capColumnsSql} from (select new.*) spend_caps) cap
  )
  from event_endpoints where account_id = new.account_id and 'key.cap_reached' = any (types);
  return null;
end $$;
create trigger reached_cap_is_recorded after update of reached_in on spend_caps
  for each row when (new.reached_in is not null and new.reached_in is distinct from old.reached_in)
  execute function record_reached_cap()`)
    .execute(db);
}
