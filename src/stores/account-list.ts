import type { Rate } from '../domain/rate.ts';
import type { Database, Statement } from './database.ts';

/** An account as operators see it. Times are Unix milliseconds. */
export type AccountDetail = {
  readonly accountId: string;
  readonly name: string;
  readonly balance: number;
  readonly unfinishedTasks: number;
  readonly maxUnfinishedTasks: number;
  /** The account's own rate of creates; undefined when the installation's counts. */
  readonly createRate: Rate | undefined;
  readonly suspendedAt: number | undefined;
  readonly createdAt: number;
};

/** The columns an account is shown by. */
const accountColumns = `id, name, balance, unfinished_tasks, max_unfinished_tasks, create_quota, create_window_ms,
  suspended_at, created_at`;

type Row = {
  id: string;
  name: string;
  balance: number;
  unfinished_tasks: number;
  max_unfinished_tasks: number;
  suspended_at: number | null;
  created_at: number;
} & ({ create_quota: number; create_window_ms: number } | { create_quota: null; create_window_ms: null });

function accountFromRow(row: Row): AccountDetail {
  return {
    accountId: row.id,
    name: row.name,
    balance: row.balance,
    unfinishedTasks: row.unfinished_tasks,
    maxUnfinishedTasks: row.max_unfinished_tasks,
    createRate: row.create_quota === null ? undefined : { quota: row.create_quota, windowMs: row.create_window_ms },
    suspendedAt: row.suspended_at ?? undefined,
    createdAt: row.created_at,
  };
}

const selectDetail = { name: 'find-account-detail', text: `select ${accountColumns} from accounts where id = $1` };

export async function findAccountDetail(db: Database, accountId: string): Promise<AccountDetail | undefined> {
  const [row] = await db.run<Row>(selectDetail, [accountId]);
  return row === undefined ? undefined : accountFromRow(row);
}

const lockDetail = { name: 'lock-account', text: `${selectDetail.text} for no key update` };

/** As `findAccountDetail`, and nobody else changes the account until the transaction ends. */
export async function lockAccount(transaction: Database, accountId: string): Promise<AccountDetail | undefined> {
  const [row] = await transaction.run<Row>(lockDetail, [accountId]);
  return row === undefined ? undefined : accountFromRow(row);
}

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
export async function listAccounts(db: Database, filter: AccountFilter): Promise<readonly AccountDetail[]> {
  const { prefix = '', suspended, after, limit } = filter;
  const statement = suspended === undefined ? selectAccounts : suspended ? selectSuspended : selectNotSuspended;
  const rows = await db.run<Row>(statement, [prefix, after, limit]);
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
