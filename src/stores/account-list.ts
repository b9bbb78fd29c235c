import { type Account, accountColumns, accountFromRow, type AccountRow } from './accounts.ts';
import type { Database, Statement } from './database.ts';

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

/** Accounts by name, at most `limit`. */
export async function listAccounts(db: Database, filter: AccountFilter): Promise<readonly Account[]> {
  const { prefix = '', suspended, after, limit } = filter;
  const statement = suspended === undefined ? selectAccounts : suspended ? selectSuspended : selectNotSuspended;
  const rows = await db.run<AccountRow>(statement, [prefix, after, limit]);
  return rows.map(accountFromRow);
}

/**
 * Names are compared byte by byte, in which order a prefix is a range: up to the last code point there is. Where the page
 * begins is one row to compare with, of the cursor or of the prefix, as in `listTasks`; a cursor may be of another search.
 */
function listStatement(name: string, condition: string): Statement {
  return {
    name: `list-accounts-${name}`,
    text: `
select ${accountColumns} from accounts
where ${condition} and lower(name) collate "C" < lower($1) || chr(1114111)
  and (lower(name) collate "C", id) > (
    case when $2::uuid is null then lower($1) else (select lower(name) from accounts where id = $2) end collate "C",
    coalesce($2, '00000000-0000-0000-0000-000000000000'))
  and starts_with(lower(name), lower($1))
order by lower(name) collate "C", id limit $3`,
  };
}

const selectAccounts = listStatement('any', 'true');
const selectSuspended = listStatement('suspended', 'suspended_at is not null');
const selectNotSuspended = listStatement('not-suspended', 'suspended_at is null');
