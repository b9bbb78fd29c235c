import { type Account, accountColumns } from './accounts.ts';
import { type Database, readRows } from './database.ts';

/** So many of each, at most `countLimit`: an account with millions of tasks is not counted through. */
export type AccountCounts = {
  readonly activeKeys: number;
  readonly waiting: number;
  readonly queuing: number;
  readonly generating: number;
  readonly tasks: number;
};

export const countLimit = 10_000;

const selectCounts = {
  name: 'count-of-account',
  text: `
select
  (select count(*) from (
    select from api_keys where account_id = $1 and revoked_at is null and (expires_at is null or expires_at > now())
    limit ${countLimit}
  ) keys) as "activeKeys",
  live.*,
  (select count(*) from (select from tasks where account_id = $1 limit ${countLimit}) tasks) as tasks
from (
  select count(*) filter (where state = 'waiting') as waiting, count(*) filter (where state = 'queuing') as queuing,
    count(*) filter (where state = 'generating') as generating
  from (
    select state from tasks where account_id = $1 and state in ('waiting', 'queuing', 'generating') limit ${countLimit}
  ) unfinished
) live`,
};

export async function countOfAccount(db: Database, accountId: string): Promise<AccountCounts> {
  const [counts] = await db.run<AccountCounts>(selectCounts, [accountId]);
  if (counts === undefined) throw new Error('counting answers one row');
  return counts;
}

export type AccountFilter = {
  /** How the name begins, in any case. */
  readonly prefix?: string | undefined;
  readonly suspended?: boolean | undefined;
  /** The last account of the page before this one; a UUID. */
  readonly after?: string | undefined;
  readonly limit: number;
};

/**
 * Names are compared byte by byte, in which order a prefix is a range: up to the last code point there is. Where the page
 * begins is one row to compare with, of the cursor or of the prefix, as in `listTasks`; a cursor may be of another search.
 */
const selectAccounts = {
  name: 'list-accounts',
  plannedAnew: true,
  text: `
select ${accountColumns} from accounts
where ($4::boolean is null or suspended_at is not null = $4) and lower(name) collate "C" < lower($1) || chr(1114111)
  and (lower(name) collate "C", id) > (
    case when $2::uuid is null then lower($1) else (select lower(name) from accounts where id = $2) end collate "C",
    coalesce($2, '00000000-0000-0000-0000-000000000000'))
  and starts_with(lower(name), lower($1))
order by lower(name) collate "C", id limit $3`,
};

/** Accounts by name, at most `limit`. */
export async function listAccounts(
  db: Database,
  { prefix = '', suspended, after, limit }: AccountFilter,
): Promise<readonly Account[]> {
  return readRows<Account>(db, selectAccounts, [prefix, after, limit, suspended]);
}
