import { v7 as uuidv7 } from 'uuid';
import type { Rate } from '../domain/rate.ts';
import type { Database } from './database.ts';

export type Account = {
  readonly accountId: string;
  readonly name: string;
  readonly balance: number;
  readonly unfinishedTasks: number;
  readonly suspendedAt: number | undefined;
};

const insertAccount = {
  name: 'create-account',
  text: `
with account as (
  insert into accounts (id, name, balance) values ($1, $2, $3) returning id, balance
)
insert into ledger_entries (account_id, kind, amount, balance_after, reason)
select id, 'grant', balance, balance, 'opening credits' from account where balance > 0`,
};

/** Opens an account, with credits when asked, and answers its id. `credits` is a whole number, not negative. */
export async function createAccount(
  db: Database,
  { name, credits }: { name: string; credits: number },
): Promise<string> {
  const accountId = uuidv7();
  await db.run(insertAccount, [accountId, name, credits]);
  return accountId;
}

const insertFirstAccount = {
  name: 'create-first-account',
  text: `
with account as (
  insert into accounts (id, name, balance) select $1, $2, $3 where not exists (select from accounts) returning id, balance
)
insert into ledger_entries (account_id, kind, amount, balance_after, reason)
select id, 'grant', balance, balance, 'opening credits' from account
returning account_id`,
};

/** Opens an account with credits when there is none at all; answers its id, or undefined when there was one. */
export async function createFirstAccount(
  db: Pick<Database, 'run'>,
  { name, credits }: { name: string; credits: number },
): Promise<string | undefined> {
  const [created] = await db.run<{ account_id: string }>(insertFirstAccount, [uuidv7(), name, credits]);
  return created?.account_id;
}

const selectLimits = {
  name: 'find-account-limits',
  text: `select unfinished_tasks, max_unfinished_tasks, create_quota, create_window_ms from accounts where id = $1`,
};

export type AccountLimits = {
  readonly unfinishedTasks: number;
  readonly maxUnfinishedTasks: number;
  /** The account's own rate of creates; undefined when the installation's counts. */
  readonly createRate: Rate | undefined;
};

export async function findAccountLimits(db: Database, accountId: string): Promise<AccountLimits | undefined> {
  type Row = { unfinished_tasks: number; max_unfinished_tasks: number } & (
    | { create_quota: number; create_window_ms: number }
    | { create_quota: null; create_window_ms: null }
  );
  const [row] = await db.run<Row>(selectLimits, [accountId]);
  if (row === undefined) return undefined;
  return {
    unfinishedTasks: row.unfinished_tasks,
    maxUnfinishedTasks: row.max_unfinished_tasks,
    createRate: row.create_quota === null ? undefined : { quota: row.create_quota, windowMs: row.create_window_ms },
  };
}

const setLimits = {
  name: 'set-account-limits',
  text: `
update accounts set max_unfinished_tasks = $2, create_quota = $3, create_window_ms = $4, create_due_at = null
where id = $1 returning id`,
};

/** Gives an account limits of its own, from the next create on; answers false when there is no such account. */
export async function setAccountLimits(
  db: Database,
  accountId: string,
  { maxUnfinishedTasks, createRate }: Omit<AccountLimits, 'unfinishedTasks'>,
): Promise<boolean> {
  const values = [accountId, maxUnfinishedTasks, createRate?.quota, createRate?.windowMs];
  return (await db.run(setLimits, values)).length > 0;
}

const selectAccount = {
  name: 'find-account',
  text: `select id, name, balance, unfinished_tasks, suspended_at from accounts where id = $1`,
};

type AccountRow = { id: string; name: string; balance: number; unfinished_tasks: number; suspended_at: number | null };

export async function findAccount(db: Database, accountId: string): Promise<Account | undefined> {
  const [row] = await db.run<AccountRow>(selectAccount, [accountId]);
  if (row === undefined) return undefined;
  return {
    accountId: row.id,
    name: row.name,
    balance: row.balance,
    unfinishedTasks: row.unfinished_tasks,
    suspendedAt: row.suspended_at ?? undefined,
  };
}
