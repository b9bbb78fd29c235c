import { type Kysely, sql } from 'kysely';

/** Operators, the log of what they do, and what their lists over all accounts need. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table operators (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  hash bytea not null unique check (length(hash) = 32),
  hint text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
-- Who did it is kept as the name of that day; without an operator it was a user of the machine, at the command line.
create table operator_actions (
  id bigint generated always as identity primary key,
  operator_id uuid references operators,
  actor text not null check (length(actor) between 1 and 200),
  request_id text,
  action text not null,
  account_id uuid references accounts,
  task_id uuid references tasks,
  key_id uuid references api_keys,
  details json not null,
  created_at timestamptz not null default now()
);
create index operator_actions_by_account on operator_actions (account_id, id) where account_id is not null;
create index operator_actions_by_operator on operator_actions (operator_id, id) where operator_id is not null;
create trigger operator_actions_are_append_only before update or delete or truncate on operator_actions
  for each statement execute function refuse_change();
-- One key books once in the whole installation: the same key for another account is a mistake, not a second grant.
alter table ledger_entries add column idempotency_key text
  check (idempotency_key is null or kind in ('grant', 'adjustment'));
create unique index ledger_by_idempotency_key on ledger_entries (idempotency_key) where idempotency_key is not null;
-- Names are looked for by how they begin, in any case; bytes are compared, so that a prefix is a range.
create index accounts_by_name on accounts ((lower(name) collate "C"), id);
create index accounts_suspended_by_name on accounts ((lower(name) collate "C"), id) where suspended_at is not null;
create index tasks_by_creation on tasks (created_at desc, id desc);
create index tasks_failed_by_creation on tasks (created_at desc, id desc) where state = 'fail';
create index callback_deliveries_failed on callback_deliveries (finished_at desc, task_id desc)
  where state in ('failed', 'gone')`.execute(db);
}
