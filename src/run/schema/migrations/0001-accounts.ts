import { type Kysely, sql } from 'kysely';
import { dialects, scopes } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import { kindByStoredName } from '../../../media/references/upload-limits-and-addresses.ts';
import { roles } from '../../../accounts/people/account-roles-and-scopes.ts';
import { capPeriods } from '../../../accounts/limits/spend-caps.ts';
import { secretPurposes } from '../../../tasks/callbacks/signing-secret-rows.ts';
import { eventTypes } from '../../../tasks/callbacks/account-event-types-and-body.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';
import { mailKinds, mailStates } from '../../../platform/mail/mail-texts.ts';
import { linkPurposes } from '../../../accounts/sign-in/one-time-links.ts';
import type { ChallengeKind } from '../../../accounts/sign-in/pending-challenges.ts';

const proofKinds = ['passkey_registration', 'passkey_sign_in', 'oidc'] as const satisfies readonly ChallengeKind[];

/** Accounts, their keys, uploads and secrets; people, and how they sign in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is not allowed', tg_op, tg_table_name using errcode = 'restrict_violation';
end $$;

-- The balance and the count of unfinished tasks are in one row, so that one row lock decides about a create.
create table accounts (
  id uuid primary key,
  name text not null check (length(name) between 1 and 200),
  -- Below zero only after a payment was returned; a check of the ledger's entries refuses every other way there.
  balance bigint not null default 0 check (balance between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}),
  unfinished_tasks integer not null default 0 check (unfinished_tasks >= 0),
  max_unfinished_tasks integer not null default 1000 check (max_unfinished_tasks >= 0),
  -- GCRA: when the next create would be due if creates came evenly.
  create_due_at timestamptz,
  -- The account's own rate of creates; null means the installation's.
  create_quota integer check (create_quota > 0),
  create_window_ms integer check (create_window_ms > 0),
  -- True while it has a row in spend_caps: its creates are accepted one by one.
  capped boolean not null default false,
  -- The event balance.low is recorded when the balance falls below it; null means never.
  low_balance bigint check (low_balance > 0),
  suspended_at timestamptz,
  suspension_reason text,
  closed_at timestamptz,
  created_at timestamptz not null default now(),
  constraint create_quota_has_window check ((create_quota is null) = (create_window_ms is null))
) with (fillfactor = 50);
-- The search by prefix ignores case and compares bytes, so that a prefix is a range.
create index accounts_by_name on accounts ((lower(name) collate "C"), id);
create index accounts_suspended_by_name on accounts ((lower(name) collate "C"), id) where suspended_at is not null;

-- Accounts that are being closed, and those that were.
create table account_closures (
  account_id uuid primary key,
  finished_at timestamptz
);
create index account_closures_open on account_closures (account_id) where finished_at is null;

create table api_keys (
  id uuid primary key,
  account_id uuid not null references accounts,
  name text not null check (length(name) between 1 and 200),
  hash bytea not null unique check (length(hash) = 32),
  hint text not null,
  scopes text[] not null check (scopes <@ array[${literalListSql(scopes).slice(1, -1)}]),
  dialect text not null default 'native' check (dialect in ${literalListSql(dialects)}),
  -- The models that it may use; null for all.
  models text[],
  -- Its identical creates within a minute are one task.
  merge_repeats boolean not null default false,
  -- The subject of its caps, which the keys of a line of rotations share.
  spend_subject uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_by_account on api_keys (account_id);
create index api_keys_by_spend_subject on api_keys (spend_subject);

-- What a key, a member or the account may spend in a period. What is spent: charges less refunds of tasks created since period_start.
create table spend_caps (
  account_id uuid not null references accounts,
  subject_kind text not null check (subject_kind in ('key', 'member', 'account')),
  subject_id uuid not null,
  period text not null check (period in ${literalListSql(capPeriods)}),
  credits bigint not null check (credits >= 0),
  spent bigint not null check (spent >= 0),
  period_start timestamptz not null,
  -- The period whose event was recorded. A refund and a new cap make it null again.
  reached_in timestamptz,
  primary key (account_id, subject_id, period)
);

-- The secrets that sign callbacks and events. One without an expiry is current.
create table callback_secrets (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts,
  purpose text not null default 'callback' check (purpose in ${literalListSql(secretPurposes)}),
  sealed text not null,
  shown_at timestamptz,
  expires_at timestamptz
);
create unique index one_current_callback_secret on callback_secrets (account_id, purpose) where expires_at is null;
create index callback_secrets_by_account on callback_secrets (account_id);

-- The receivers of accounts' events.
create table event_endpoints (
  account_id uuid primary key references accounts,
  url text not null,
  types text[] not null check (types <@ array[${literalListSql(eventTypes).slice(1, -1)}])
);

-- Clients' reference media in the result store. The row is written before the file and deleted after it.
create table uploads (
  id uuid primary key,
  account_id uuid not null references accounts,
  -- The name decides the kind of the file.
  file_name text not null check (file_name in ${literalListSql(Object.keys(kindByStoredName))}),
  bytes integer not null check (bytes > 0),
  -- Of what was received, once the file is stored; only for files in requests of other APIs, which may be repeated.
  sha256 bytea check (length(sha256) = 32),
  expires_at timestamptz not null
);
create index uploads_by_account on uploads (account_id, expires_at);
create index uploads_by_expiry on uploads (expires_at);

create table users (
  id uuid primary key,
  -- In lower case.
  email text not null unique check (length(email) between 3 and 254),
  -- A PHC string; null for people who only sign in by other means.
  password_hash text check (length(password_hash) <= 500),
  -- SHA-256 of the mailbox with which the person signed up; null for invited people. A mailbox signs up once.
  mailbox_hash bytea unique check (length(mailbox_hash) = 32),
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  last_sign_in_at timestamptz,
  disabled_at timestamptz,
  -- Since when the person has had neither an account nor the operator's right; null for one who has.
  unattached_since timestamptz default now()
);
create index users_operators on users (id) where is_operator and disabled_at is null;
create index users_unattached on users (unattached_since) where unattached_since is not null;

-- The mailboxes whose sign-up got the start credit, as hashes under a key that is not in the database.
create table start_credits (
  mailbox_hmac bytea primary key check (length(mailbox_hmac) = 32)
);

create table memberships (
  account_id uuid not null references accounts,
  user_id uuid not null references users,
  role text not null check (role in ${literalListSql(roles)}),
  created_at timestamptz not null default now(),
  primary key (account_id, user_id)
);
create index memberships_by_user on memberships (user_id);

create table sessions (
  id uuid primary key,
  user_id uuid not null references users,
  hash bytea not null unique check (length(hash) = 32),
  created_at timestamptz not null default now(),
  -- When the person last proved their identity.
  authenticated_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  address text not null,
  user_agent text not null check (length(user_agent) <= 300),
  -- The account that an operator views as its owner sees it, and until when.
  viewed_account_id uuid references accounts,
  viewed_until timestamptz,
  constraint view_has_end check ((viewed_account_id is null) = (viewed_until is null))
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

create table one_time_links (
  id uuid primary key,
  hash bytea not null unique check (length(hash) = 32),
  purpose text not null check (purpose in ${literalListSql(linkPurposes)}),
  -- Null for the setup only, where the person enters it.
  email text check (length(email) between 3 and 254),
  account_id uuid references accounts,
  role text check (role in ${literalListSql(roles)}),
  makes_operator boolean not null default false,
  expires_at timestamptz not null,
  used_at timestamptz,
  withdrawn_at timestamptz,
  created_at timestamptz not null default now(),
  -- Of a sign-up: where it was requested, the mailbox of the e-mail, and the code that it redeems.
  address text,
  mailbox_hash bytea check (length(mailbox_hash) = 32),
  code_hash bytea check (length(code_hash) = 32),
  constraint purpose_fits_email check ((purpose = 'setup') = (email is null)),
  constraint role_fits_account check ((account_id is null) = (role is null)),
  constraint purpose_fits_request check ((purpose = 'confirm') = (address is not null) and (address is null) = (mailbox_hash is null))
);
create index one_time_links_by_email on one_time_links (email) where email is not null;
create index one_time_links_by_account on one_time_links (account_id) where account_id is not null;
create index one_time_links_by_expiry on one_time_links (expires_at);
create index one_time_links_of_setup on one_time_links (id) where purpose = 'setup' and used_at is null and withdrawn_at is null;
create index one_time_links_of_sign_ups on one_time_links (created_at) where purpose = 'confirm';
create index one_time_links_of_operators on one_time_links (id) where makes_operator and used_at is null and withdrawn_at is null;

-- E-mails that carry a link. They are deleted with it.
create table mails (
  id uuid primary key,
  kind text not null check (kind in ${literalListSql(mailKinds)}),
  link_id uuid not null references one_time_links on delete cascade,
  recipient text not null check (length(recipient) between 3 and 254),
  -- The account whose owner caused it, if one did.
  account_id uuid references accounts,
  state text not null default 'waiting' check (state in ${literalListSql(mailStates)}),
  -- The path of the link, with its secret, encrypted; null once the mail no longer waits.
  sealed_path text,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint waiting_has_path check ((state = 'waiting') = (sealed_path is not null))
);
create index mails_due on mails (due_at) where state = 'waiting';
create index mails_by_link on mails (link_id);
create index mails_by_recipient on mails (recipient, created_at);
create index mails_by_account on mails (account_id, created_at) where account_id is not null;

-- The password tries of the last hour, so that all processes together enforce the limit.
create table sign_in_tries (
  id bigint generated always as identity primary key,
  email_hash bytea not null,
  address text not null,
  failed boolean not null default true,
  created_at timestamptz not null default now()
);
create index sign_in_tries_by_email on sign_in_tries (email_hash, created_at);
create index sign_in_tries_by_time on sign_in_tries (created_at);

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

-- The identity provider's names of people.
create table oidc_identities (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users,
  primary key (issuer, subject)
);
create index oidc_identities_by_user on oidc_identities (user_id);

-- Challenges of passkeys, and requests to the identity provider. Each is consumed once.
create table pending_proofs (
  hash bytea primary key check (length(hash) = 32),
  kind text not null check (kind in ${literalListSql(proofKinds)}),
  user_id uuid references users,
  details json not null,
  expires_at timestamptz not null
);
create index pending_proofs_by_expiry on pending_proofs (expires_at);

create table security_events (
  id bigint generated always as identity primary key,
  kind text not null,
  -- The person concerned; null if the e-mail address belongs to no user.
  user_id uuid references users,
  -- Null for events that concern the person in all their accounts.
  account_id uuid references accounts,
  -- The e-mail address or name of the person that caused the event, if it is another one.
  actor text,
  email text,
  address text,
  user_agent text check (length(user_agent) <= 300),
  details json not null,
  created_at timestamptz not null default now()
);
create index security_events_by_user on security_events (user_id, id) where user_id is not null;
create index security_events_by_account on security_events (account_id, id) where account_id is not null;
create index security_events_by_time on security_events (created_at);
create index security_events_by_email on security_events (email) where email is not null;
create index security_events_by_actor on security_events (actor) where actor is not null;
-- Append-only, except in a transaction that sets videogen.erasure to erase a person or to delete expired records.
create trigger security_events_are_append_only before update or delete or truncate on security_events for each statement
  when (current_setting('videogen.erasure', true) is distinct from 'on') execute function refuse_change()`)
    .execute(db);
}
