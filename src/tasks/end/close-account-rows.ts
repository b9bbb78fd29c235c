import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { type Account, findAccount, lockAccount } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import type { ChangingOwner } from '../../accounts/people/change-members.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import { recordSecurityEvent } from '../../accounts/people/security-events.ts';
import type { UploadIdAndName } from '../../media/references/upload-limits-and-addresses.ts';
import { many, noRows, one, type StatementRunner } from '../../platform/database/declare-statements.ts';

// The commit closes an account. The workflow `closeAccount` deletes its uploads and the content of its tasks afterwards.

// Users are locked in the order of their ids, so that two closings of accounts with the same members cannot deadlock.
const closeOpenAccount = noRows<[accountId: string]>({
  name: 'close-account',
  text: `
with account as (
  update accounts set closed_at = now(), suspended_at = coalesce(suspended_at, now()) where id = $1
), keys as (
  update api_keys set revoked_at = now() where account_id = $1 and revoked_at is null
), members as (
  delete from memberships where account_id = $1 returning user_id
), unattached as (
  update users set unattached_since = now()
  from (select id from users where id in (select user_id from members) order by id for no key update) locked
  where users.id = locked.id and not is_operator
    and not exists (select from memberships where user_id = users.id and account_id <> $1)
), links as (
  delete from one_time_links where account_id = $1
), endpoint as (
  delete from event_endpoints where account_id = $1
)
insert into account_closures (account_id) values ($1)`,
});

async function close(db: StatementRunner, accountId: string): Promise<'changed' | 'unchanged' | 'not_found'> {
  const before = await lockAccount(db, accountId);
  if (before === undefined) return 'not_found';
  if (before.closedAt !== undefined) return 'unchanged';
  await closeOpenAccount(db, accountId);
  return 'changed';
}

/** Closes an account for good, for an operator. Returns undefined for an unknown account. */
export function closeAccountAs(
  db: Database,
  actor: Actor,
  { accountId, reason }: { readonly accountId: string; readonly reason: string },
): Promise<Account | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const outcome = await close(transaction, accountId);
    const answer = outcome === 'not_found' ? undefined : await findAccount(transaction, accountId);
    if (outcome !== 'changed') return { answer };
    return { answer, done: { action: 'accounts.close', accountId, details: { reason } } };
  });
}

/** Closes an account for good, for its owner. */
export function closeOwnAccount(db: Database, { session, accountId, origin }: ChangingOwner): Promise<void> {
  return db.transaction(async (run) => {
    if ((await close({ run }, accountId)) !== 'changed') return;
    const { userId, email } = session;
    await recordSecurityEvent({ run }, { kind: 'account_closed', userId, email, accountId, origin });
  });
}

export const listOpenClosures = many<
  { readonly accountId: string },
  [page: { readonly after: string | undefined; readonly limit: number }]
>({
  name: 'list-open-account-closures',
  text: `
select account_id as "accountId" from account_closures
where finished_at is null and ($1::uuid is null or account_id > $1) order by account_id limit $2`,
  values: ({ after, limit }) => [after, limit],
});

export const isClosing = one<{ readonly isClosing: boolean }, [accountId: string]>({
  name: 'is-account-closing',
  text: `
select exists (select from account_closures where account_id = $1 and finished_at is null) as "isClosing"`,
});

/** `isEmpty`: its content was deleted in the database and outside of it. */
export type TaskOfClosedAccount = { readonly taskId: string; readonly isEmpty: boolean };

/** Lists tasks of a closed account, the newest first. */
export const listTasksOfClosedAccount = many<
  TaskOfClosedAccount,
  [accountId: string, page: { readonly after: string | undefined; readonly limit: number }]
>({
  name: 'list-tasks-to-empty',
  text: `
select id as "taskId", content_deleted_at is not null
  and not exists (select from content_deletions where task_id = tasks.id and swept_at is null) as "isEmpty"
from tasks
where account_id = $1 and ($2::uuid is null or (created_at, id) < (select created_at, id from tasks where id = $2))
order by created_at desc, id desc limit $3`,
  values: (accountId, { after, limit }) => [accountId, after, limit],
});

export const listAccountUploads = many<UploadIdAndName, [accountId: string, limit: number]>({
  name: 'list-uploads-of-account',
  text: `select id as "uploadId", file_name as "fileName" from uploads where account_id = $1 order by expires_at limit $2`,
});

/**
 * Finishes a closure unless deletions or uploads are left, and deletes the account's callback secrets and remaining events. `not_open`: the
 * closure has finished before, or the account is not being closed.
 */
export const finishClosure = one<{ readonly outcome: 'finished' | 'not_empty' | 'not_open' }, [accountId: string]>({
  name: 'finish-account-closure',
  text: `
with closure as (
  select account_id from account_closures where account_id = $1 and finished_at is null
), finished as (
  update account_closures set finished_at = now() from closure
  where account_closures.account_id = closure.account_id
    and not exists (select from content_deletions where account_id = $1 and swept_at is null)
    and not exists (select from uploads where account_id = $1)
  returning closure.account_id
), secrets as (
  delete from callback_secrets using finished where callback_secrets.account_id = finished.account_id
), events as (
  delete from callback_deliveries using finished
  where callback_deliveries.account_id = finished.account_id and event is not null
)
select case when exists (select from finished) then 'finished'
  when exists (select from closure) then 'not_empty' else 'not_open' end as outcome`,
});
