import { v7 as uuidv7 } from 'uuid';
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
  db: Database,
  { name, credits }: { name: string; credits: number },
): Promise<string | undefined> {
  const [created] = await db.run<{ account_id: string }>(insertFirstAccount, [uuidv7(), name, credits]);
  return created?.account_id;
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
