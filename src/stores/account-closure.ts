import type { Actor } from '../domain/operator.ts';
import { type Account, findAccount, lockAccount } from './accounts.ts';
import type { Database } from './database.ts';
import type { By } from './members.ts';
import { recordAction } from './operator-actions.ts';
import { recordEvent } from './security-events.ts';
import { many, maybeOne, none, one } from './statement.ts';

// The end of an account. The commit shuts it; what its tasks were about is deleted behind it, in parts, by `reconcile`.

const shut = none<[accountId: string]>({
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
)
insert into account_closures (account_id) values ($1)`,
});

async function close(db: Pick<Database, 'run'>, accountId: string): Promise<'changed' | 'unchanged' | 'not_found'> {
  const before = await lockAccount(db, accountId);
  if (before === undefined) return 'not_found';
  if (before.closedAt !== undefined) return 'unchanged';
  await shut(db, accountId);
  return 'changed';
}

/** Closes an account for good, for an operator; undefined when there is none. One that is closed stays as it is. */
export function closeAccountAs(
  db: Database,
  actor: Actor,
  { accountId, reason }: { readonly accountId: string; readonly reason: string },
): Promise<Account | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const outcome = await close(transaction, accountId);
    const answer = outcome === 'not_found' ? undefined : await findAccount(transaction, accountId);
    if (outcome !== 'changed') return { answer };
    return { answer, done: { action: 'accounts.close', accountId, details: { reason } } };
  });
}

/** As `closeAccountAs`, for an owner. */
export function closeOwnAccount(db: Database, { session, accountId, origin }: By): Promise<void> {
  return db.transaction(async (run) => {
    if ((await close({ run }, accountId)) !== 'changed') return;
    const { userId, email } = session;
    await recordEvent({ run }, { kind: 'account_closed', userId, email, accountId, origin });
  });
}

// A closed account gets no new tasks, so the newest that still says what it was about moves downwards only. Looking for it from where
// it was found last spares reading all that are emptied. The order keeps the planner to an index that begins there.
const newestWithContent = (column: string) => `(
    select ${column} from tasks
    where account_id = c.account_id and content_deleted_at is null and created_at <= coalesce(c.content_until, 'infinity')
    order by created_at desc, id desc limit 1)`;

/** Closed accounts that have something to delete; some of them, and others the next time, so that none keeps the rest waiting. */
export const listClosuresToEmpty = many<{ readonly accountId: string }, [limit: number]>({
  name: 'list-account-closures-to-empty',
  text: `
select account_id as "accountId" from account_closures c where finished_at is null
  and (${newestWithContent('id')} is not null
    or exists (select from uploads where account_id = c.account_id))
order by random() limit $1`,
});

/** Closures that have not been ended; some of them, as above. */
export const listOpenClosures = many<{ readonly accountId: string }, [limit: number]>({
  name: 'list-open-account-closures',
  text: `
select account_id as "accountId" from account_closures where finished_at is null order by random() limit $1`,
});

/** Tasks of an account that have not ended. */
export const listTasksToCancel = many<{ readonly taskId: string }, [accountId: string, limit: number]>({
  name: 'list-tasks-to-cancel',
  text: `
select id as "taskId" from tasks where account_id = $1 and state in ('waiting', 'queuing', 'generating')
order by created_at desc, id desc limit $2`,
});

/** Tasks of a closed account that have ended and still say what they were about, after the given one. */
export const listTasksWithContent = many<
  { readonly taskId: string },
  [accountId: string, page: { after: string | undefined; limit: number }]
>({
  name: 'list-tasks-with-content',
  text: `
select id as "taskId" from tasks
where account_id = $1 and content_deleted_at is null and state in ('success', 'fail')
  and created_at <= coalesce((select content_until from account_closures where account_id = $1), 'infinity')
  and ($2::uuid is null or (created_at, id) < (select created_at, id from tasks where id = $2))
order by created_at desc, id desc limit $3`,
  values: (accountId, { after, limit }) => [accountId, after, limit],
});

/** Marks down to where a closed account is emptied. */
export const markEmptied = none<[accountId: string]>({
  name: 'mark-account-emptied',
  text: `
update account_closures c set content_until = coalesce(${newestWithContent('created_at')}, '-infinity')
where account_id = $1`,
});

/** The images of an account. */
export const listUploadsOf = many<{ readonly uploadId: string }, [accountId: string, limit: number]>({
  name: 'list-uploads-of-account',
  text: `select id as "uploadId" from uploads where account_id = $1 order by expires_at limit $2`,
});

const isEmpty = one<{ isEmpty: boolean }, [accountId: string]>({
  name: 'is-account-empty',
  text: `
select ${newestWithContent('id')} is null
  and not exists (select from content_deletions where account_id = $1 and swept_at is null)
  and not exists (select from uploads where account_id = $1) as "isEmpty"
from account_closures c where account_id = $1`,
});

const finish = maybeOne<{ accountId: string }, [accountId: string]>({
  name: 'finish-account-closure',
  text: `
with secrets as (delete from callback_secrets where account_id = $1)
update account_closures set finished_at = now() where account_id = $1 and finished_at is null returning account_id as "accountId"`,
});

/** Ends a closure when nothing is left to delete; the secrets go last, for callbacks were signed with them. */
export async function finishClosure(db: Database, accountId: string): Promise<boolean> {
  return (await isEmpty(db, accountId)).isEmpty && (await finish(db, accountId)) !== undefined;
}
