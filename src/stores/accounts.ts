import { v7 as uuidv7 } from 'uuid';
import type { Actor } from '../domain/operator.ts';
import type { Rate } from '../domain/rate-limit.ts';
import { type Database, readRow } from './database.ts';
import { recordAction } from './operator-actions.ts';

/** An account. Times are Unix milliseconds. */
export type Account = {
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

/** The columns of `accounts` as the fields of an `Account`. */
export const accountColumns = `id as "accountId", name, balance, unfinished_tasks as "unfinishedTasks",
  max_unfinished_tasks as "maxUnfinishedTasks", suspended_at as "suspendedAt", created_at as "createdAt",
  case when create_quota is not null then json_build_object('quota', create_quota, 'windowMs', create_window_ms) end
    as "createRate"`;

const selectAccount = { name: 'find-account', text: `select ${accountColumns} from accounts where id = $1` };

export async function findAccount(db: Database, accountId: string): Promise<Account | undefined> {
  return readRow<Account>(db, selectAccount, [accountId]);
}

const lockOne = { name: 'lock-account', text: `${selectAccount.text} for no key update` };

/** As `findAccount`, and locks the account until the transaction ends. */
export async function lockAccount(transaction: Pick<Database, 'run'>, accountId: string): Promise<Account | undefined> {
  return readRow<Account>(transaction, lockOne, [accountId]);
}

const openingStatement = (name: string, condition: string) => ({
  name,
  text: `
with account as (
  insert into accounts (id, name, balance) select $1, $2, $3 where ${condition} returning id, balance
), entry as (
  insert into ledger_entries (account_id, kind, amount, balance_after, reason)
  select id, 'grant', balance, balance, 'opening credits' from account where balance > 0
)
select id from account`,
});
const insertAccount = openingStatement('create-account', 'true');
const insertFirstAccount = openingStatement('create-first-account', 'not exists (select from accounts)');

type NewAccount = { readonly name: string; readonly credits: number };

/** Opens an account, with credits when asked, and answers its id. `credits` is a whole number, not negative. */
export async function createAccount(db: Database, { name, credits }: NewAccount): Promise<string> {
  const accountId = uuidv7();
  await db.run(insertAccount, [accountId, name, credits]);
  return accountId;
}

/** As `createAccount`, when there is no account at all; undefined when there was one. */
export async function createFirstAccount(
  db: Pick<Database, 'run'>,
  { name, credits }: NewAccount,
): Promise<string | undefined> {
  return (await readRow<{ id: string }>(db, insertFirstAccount, [uuidv7(), name, credits]))?.id;
}

const setLimits = {
  name: 'set-account-limits',
  text: `
update accounts set max_unfinished_tasks = $2, create_quota = $3, create_window_ms = $4, create_due_at = null
where id = $1 returning ${accountColumns}`,
};

/** Gives an account limits of its own, from the next create on; undefined when there is no such account. */
export function setAccountLimits(
  db: Database,
  accountId: string,
  { maxUnfinishedTasks, createRate }: Pick<Account, 'maxUnfinishedTasks' | 'createRate'>,
): Promise<Account | undefined> {
  return readRow<Account>(db, setLimits, [accountId, maxUnfinishedTasks, createRate?.quota, createRate?.windowMs]);
}

/** As `createAccount`, for an operator, and in the audit log. Answers the account. */
export function openAccountAs(db: Database, actor: Actor, wanted: NewAccount): Promise<Account> {
  return recordAction(db, actor, async (transaction) => {
    const accountId = await createAccount(transaction, wanted);
    const answer = await findAccount(transaction, accountId);
    if (answer === undefined) throw new Error(`account ${accountId} is gone`);
    return { answer, done: { action: 'accounts.create', accountId, details: wanted } };
  });
}

const setSuspended = {
  name: 'suspend-account',
  text: `update accounts set suspended_at = case when $2 then now() end where id = $1 returning ${accountColumns}`,
};

export type Suspension = { readonly accountId: string; readonly suspended: boolean; readonly reason: string };

/** Suspends an account, or lifts that; undefined when there is no such account. One that is as wanted stays untouched. */
export function suspendAccountAs(
  db: Database,
  actor: Actor,
  { accountId, suspended, reason }: Suspension,
): Promise<Account | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const before = await lockAccount(transaction, accountId);
    if (before === undefined || (before.suspendedAt !== undefined) === suspended) return { answer: before };
    const answer = await readRow<Account>(transaction, setSuspended, [accountId, suspended]);
    const action = suspended ? 'accounts.suspend' : 'accounts.unsuspend';
    return { answer, done: { action, accountId, details: { reason } } };
  });
}

export type WantedLimits = {
  readonly accountId: string;
  /** Stays as it is when left out. */
  readonly maxUnfinishedTasks?: number | undefined;
  /** Null for the installation's; stays as it is when left out. */
  readonly createRate?: Rate | null | undefined;
};

/** Gives an account limits of its own, from the next create on; undefined when there is no such account. */
export function limitAccountAs(
  db: Database,
  actor: Actor,
  { accountId, ...wanted }: WantedLimits,
): Promise<Account | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const before = await lockAccount(transaction, accountId);
    if (before === undefined) return { answer: undefined };
    const createRate = wanted.createRate === undefined ? before.createRate : (wanted.createRate ?? undefined);
    const { maxUnfinishedTasks = before.maxUnfinishedTasks } = wanted;
    const [from, to] = [limitsOf(before), limitsOf({ maxUnfinishedTasks, createRate })];
    if (JSON.stringify(from) === JSON.stringify(to)) return { answer: before };
    const answer = await setAccountLimits(transaction, accountId, { maxUnfinishedTasks, createRate });
    return { answer, done: { action: 'accounts.limits', accountId, details: { from, to } } };
  });
}

function limitsOf({ maxUnfinishedTasks, createRate }: Pick<Account, 'maxUnfinishedTasks' | 'createRate'>) {
  const creates = createRate === undefined ? null : { quota: createRate.quota, windowMs: createRate.windowMs };
  return { maxUnfinishedTasks, creates };
}
