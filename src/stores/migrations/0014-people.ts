import { type Kysely, sql } from 'kysely';

/** People: who they are, in which accounts, their sessions, the links that let them in, and what happened to all of these. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
create table users (
  id uuid primary key,
  -- In lower case.
  email text not null unique check (length(email) between 3 and 254),
  -- A PHC string; null for somebody who signs in by other means alone.
  password_hash text check (length(password_hash) <= 500),
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  last_sign_in_at timestamptz,
  disabled_at timestamptz
);
create index users_operators on users (id) where is_operator and disabled_at is null;
create table memberships (
  account_id uuid not null references accounts,
  user_id uuid not null references users,
  role text not null check (role in ('owner', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (account_id, user_id)
);
create index memberships_by_user on memberships (user_id);
create table sessions (
  id uuid primary key,
  user_id uuid not null references users,
  hash bytea not null unique check (length(hash) = 32),
  created_at timestamptz not null default now(),
  -- When the person last proved who they are.
  authenticated_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null check (length(user_agent) <= 300)
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);
create table one_time_links (
  id uuid primary key,
  hash bytea not null unique check (length(hash) = 32),
  purpose text not null check (purpose in ('setup', 'invite', 'reset')),
  -- Null for the set-up alone, where the person gives it.
  email text check (length(email) between 3 and 254),
  account_id uuid references accounts,
  role text check (role in ('owner', 'member', 'viewer')),
  makes_operator boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  withdrawn_at timestamptz,
  constraint purpose_fits_email check ((purpose = 'setup') = (email is null)),
  constraint role_fits_account check ((account_id is null) = (role is null))
);
create index one_time_links_by_email on one_time_links (email) where email is not null;
create index one_time_links_of_setup on one_time_links (id) where purpose = 'setup' and used_at is null and withdrawn_at is null;
create index one_time_links_by_account on one_time_links (account_id) where account_id is not null;
-- The last hour of tries, so that all processes together keep the limit. Of e-mails the hash alone.
create table sign_in_tries (
  id bigint generated always as identity primary key,
  email_hash bytea not null,
  address text not null,
  failed boolean not null default true,
  created_at timestamptz not null default now()
);
create index sign_in_tries_by_email on sign_in_tries (email_hash, created_at);
create index sign_in_tries_by_address on sign_in_tries (address, created_at);
create index sign_in_tries_by_time on sign_in_tries (created_at);
create table security_events (
  id bigint generated always as identity primary key,
  kind text not null,
  -- Whom it happened to; null when nobody has the e-mail that was tried.
  user_id uuid references users,
  -- Null for what concerns the person in all their accounts.
  account_id uuid references accounts,
  -- Who did it, where that is somebody else: an e-mail or the name of an operator.
  actor text,
  email text,
  address text,
  user_agent text check (length(user_agent) <= 300),
  details json not null,
  created_at timestamptz not null default now()
);
create index security_events_by_user on security_events (user_id, id) where user_id is not null;
create index security_events_by_account on security_events (account_id, id) where account_id is not null;
create trigger security_events_are_append_only before update or delete or truncate on security_events
  for each statement execute function refuse_change();
create table passkeys (
  id uuid primary key,
  user_id uuid not null references users,
  credential_id text not null unique check (length(credential_id) <= 1400),
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null check (length(name) between 1 and 200),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_by_user on passkeys (user_id);
-- A person as the identity provider knows them.
create table oidc_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users,
  created_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index oidc_identities_by_user on oidc_identities (user_id);
-- Challenges of passkeys and requests to the identity provider that wait for their answer: each is taken once.
create table pending_proofs (
  hash bytea primary key check (length(hash) = 32),
  kind text not null check (kind in ('passkey_registration', 'passkey_sign_in', 'oidc')),
  user_id uuid references users,
  details json not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index pending_proofs_by_expiry on pending_proofs (expires_at);
alter table operator_actions add column user_id uuid references users;
create index operator_actions_by_user on operator_actions (user_id, id) where user_id is not null`.execute(db);
}
