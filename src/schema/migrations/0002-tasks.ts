import { type Kysely, sql } from 'kysely';
import { taskStates } from '../../tasks/task.ts';
import { ledgerKinds } from '../../credits/credits.ts';
import { capColumns } from '../../credits/spend-caps.ts';
import { deliveryStates } from '../../callbacks/deliveries.ts';
import { eventTypes } from '../../callbacks/event.ts';
import { maxEndpointLength } from '../../requests/logged-requests.ts';
import { literals } from '../../platform/database/sql.ts';
import { maxReasonLength } from '../../credits/prices.ts';
import { maxPriceCredits, maxPriceNameLength } from '../../models/price-rows.ts';
import { promptLexemes } from '../../tasks/task-filter.ts';
import { isFinished, isUnfinished } from '../../tasks/task-states.ts';

/** Tasks, the ledger, prices and callbacks. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
-- What a worker needs to follow a job, without secrets. Many jobs and tasks share one.
create table provider_configs (
  hash text primary key check (length(hash) = 64),
  config json not null check (octet_length(config::text) <= 65536)
);

create table tasks (
  id uuid primary key,
  account_id uuid not null references accounts,
  model text not null,
  param json not null,
  state text not null default 'waiting' check (state in ${literals(taskStates)}),
  credits_charged bigint not null check (credits_charged > 0),
  credits_refunded bigint not null default 0,
  -- The price of its model that it was charged.
  price_name text not null check (length(price_name) between 1 and ${maxPriceNameLength}),
  fail_code text,
  fail_msg text,
  result json,
  -- Without foreign keys: each would cost every create a look-up and a lock. Both are null in tasks that an operator started by hand.
  key_id uuid,
  user_id uuid,
  callback_url text,
  -- The API that spells its callback: a dialect of a key, or a shape of src/ingress.
  dialect text not null default 'native',
  idempotency_key text,
  -- Created by a request that its client marked as a repeat.
  is_repeat boolean not null default false,
  request_sha256 bytea not null check (length(request_sha256) = 32),
  -- The catalogue's terms at acceptance, and since the workflow began the model's tiers.
  deadline_ms integer not null check (deadline_ms > 0),
  providers json,
  tiers_hash text references provider_configs,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  generation_started_at timestamptz,
  generation_spent_ms bigint not null default 0,
  attempt_started_at timestamptz,
  attempt_seen_at timestamptz,
  -- When the next attempt follows one that failed. It is not cleared by the end of the task.
  retry_at timestamptz,
  -- Since when the task's workflow has failed at its code.
  stuck_since timestamptz,
  media_deleted_at timestamptz,
  content_deleted_at timestamptz,
  constraint failed_is_refunded check (credits_refunded = case when state = 'fail' then credits_charged else 0 end),
  constraint failed_has_reason check ((state = 'fail') = (fail_code is not null) and (state = 'fail') = (fail_msg is not null)),
  constraint success_has_result check ((state = 'success') = (result is not null)),
  constraint final_has_end check ((${isFinished}) = (completed_at is not null)),
  constraint one_maker check (key_id is null or user_id is null)
) with (fillfactor = 80);
create unique index tasks_by_idempotency_key on tasks (account_id, idempotency_key) where idempotency_key is not null;
create index tasks_by_account on tasks (account_id, created_at desc, id desc);
create index tasks_by_creation on tasks (created_at desc, id desc);
create index tasks_by_completion on tasks (completed_at, id) where completed_at is not null;
create index tasks_by_prompt on tasks using gin (${promptLexemes});
-- A list of the few failed or unfinished tasks must not read all that succeeded.
create index tasks_failed_by_account on tasks (account_id, created_at desc, id desc) where state = 'fail';
create index tasks_failed_by_creation on tasks (created_at desc, id desc) where state = 'fail';
create index tasks_failed_by_code on tasks (fail_code, created_at desc, id desc) where state = 'fail';
create index tasks_unfinished on tasks (created_at) where ${isUnfinished};
create index tasks_unfinished_by_account on tasks (account_id, created_at desc, id desc) where ${isUnfinished};
create index tasks_stuck on tasks (stuck_since) where stuck_since is not null and ${isUnfinished};
create index tasks_with_content on tasks (completed_at) where completed_at is not null and content_deleted_at is null;
create index tasks_with_media on tasks (completed_at) where state = 'success' and media_deleted_at is null;
create index tasks_failed_with_media on tasks (completed_at) where state = 'fail' and media_deleted_at is null;
-- Failed tasks that were cleaned while an attempt could still be alive are cleaned once more.
create index tasks_failed_cleaned_early on tasks (completed_at)
  where state = 'fail' and media_deleted_at - completed_at < interval '26 hours';

-- The first final state wins, whichever statement comes second. Afterwards only media and content may be deleted, content once.
create function refuse_change_of_final_task() returns trigger language plpgsql as $$
declare
  may_change text[] := array['media_deleted_at'];
begin
  if old.content_deleted_at is null and new.content_deleted_at is not null then
    may_change := may_change || array['content_deleted_at', 'param', 'result', 'fail_msg', 'callback_url', 'request_sha256'];
  end if;
  if (to_jsonb(new) - may_change) is distinct from (to_jsonb(old) - may_change) then
    raise exception 'task % is final (%)', old.id, old.state using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger final_tasks_never_change before update on tasks
  for each row when (old.${isFinished}) execute function refuse_change_of_final_task();
create trigger tasks_are_never_deleted before delete or truncate on tasks for each statement execute function refuse_change();

-- Workflows to be terminated because their task is final: written with the refund, deleted afterwards. Almost always empty.
create table workflow_terminations (
  task_id uuid primary key references tasks,
  reason text not null,
  due_at timestamptz not null
);
create index workflow_terminations_by_due on workflow_terminations (due_at, task_id);

-- Files and histories that are still to be deleted: written with the deletion of a task's content. Almost always empty.
-- Without foreign keys, which would lock the rows that they refer to.
create table content_deletions (
  task_id uuid primary key,
  account_id uuid not null,
  -- The uploaded images that the task used.
  upload_ids uuid[] not null,
  due_at timestamptz not null default now(),
  swept_at timestamptz
);
create index content_deletions_by_due on content_deletions (due_at, task_id);
create index content_deletions_by_account on content_deletions (account_id) where swept_at is null;

-- Final tasks by the UTC day of their creation, added up after their end. A report of 90 days would read as many rows of tasks otherwise.
create table usage_days (
  account_id uuid not null,
  day date not null,
  model text not null,
  key_id uuid,
  user_id uuid,
  tasks integer not null,
  succeeded integer not null,
  failed integer not null,
  credits bigint not null,
  constraint one_row_per_usage unique nulls not distinct (account_id, day, model, key_id, user_id)
);

-- Those of them that succeeded, by the logarithm of the time from their acceptance to their end.
create table usage_latencies (
  account_id uuid not null,
  day date not null,
  model text not null,
  bucket smallint not null,
  tasks integer not null,
  primary key (account_id, day, model, bucket)
);

-- The accounts' API calls of seven days, written in batches. Without foreign keys, whose checks would lock rows that creates need.
create table api_requests (
  id uuid primary key,
  account_id uuid not null,
  key_id uuid,
  user_id uuid,
  ended_at timestamptz not null,
  duration_ms integer not null,
  method text not null,
  endpoint text not null check (length(endpoint) <= ${maxEndpointLength}),
  tool text,
  status integer,
  error_code text,
  task_id uuid
);
create index api_requests_by_account on api_requests (account_id, ended_at desc, id desc);
create index api_requests_by_time on api_requests (ended_at);

create table ledger_entries (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  task_id uuid references tasks,
  kind text not null check (kind in ${literals(ledgerKinds)}),
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
  reason text not null check (length(reason) between 1 and ${maxReasonLength}),
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
create trigger prices_are_never_deleted before delete or truncate on prices for each statement execute function refuse_change();

-- Callbacks, and events of accounts, whose row is written by the statement that makes the event happen.
create table callback_deliveries (
  -- A task's callback has the id of its task, and a task's event one that is derived from it.
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references accounts,
  -- Null for events that are about no task.
  task_id uuid references tasks,
  -- Null for callbacks.
  event text check (event in ${literals(eventTypes)}),
  -- The data of an event that is about no task.
  details json,
  url text not null,
  state text not null default 'pending' check (state in ${literals(deliveryStates)}),
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
  -- Above the sum of the limits in src/callbacks/exchange.ts, where a character takes six bytes at most.
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
    from (select ${capColumns} from (select new.*) spend_caps) cap
  )
  from event_endpoints where account_id = new.account_id and 'key.cap_reached' = any (types);
  return null;
end $$;
create trigger reached_cap_is_recorded after update of reached_in on spend_caps
  for each row when (new.reached_in is not null and new.reached_in is distinct from old.reached_in)
  execute function record_reached_cap()`)
    .execute(db);
}
