import type { Actor } from '../domain/operator.ts';
import type { Rate } from '../domain/rate.ts';
import { type AccountDetail, findAccountDetail, lockAccount } from './account-list.ts';
import { createAccount, setAccountLimits } from './accounts.ts';
import type { Database } from './database.ts';
import { recordAction } from './operator-actions.ts';

/** Opens an account with credits (a whole number, not negative), and answers it. */
export function openAccountAs(
  db: Database,
  actor: Actor,
  wanted: { readonly name: string; readonly credits: number },
): Promise<AccountDetail> {
  return recordAction(db, actor, async (transaction) => {
    const accountId = await createAccount(transaction, wanted);
    const answer = await changed(transaction, accountId);
    return { answer, done: { action: 'accounts.create', accountId, details: wanted } };
  });
}

const setSuspended = {
  name: 'suspend-account',
  text: `update accounts set suspended_at = case when $2 then now() end where id = $1`,
};

export type Suspension = { readonly accountId: string; readonly suspended: boolean; readonly reason: string };

/** Suspends an account, or lifts that; undefined when there is no such account. One that is as wanted stays untouched. */
export function suspendAccountAs(
  db: Database,
  actor: Actor,
  { accountId, suspended, reason }: Suspension,
): Promise<AccountDetail | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const before = await lockAccount(transaction, accountId);
    if (before === undefined || (before.suspendedAt !== undefined) === suspended) return { answer: before };
    await transaction.run(setSuspended, [accountId, suspended]);
    const action = suspended ? 'accounts.suspend' : 'accounts.unsuspend';
    return { answer: await changed(transaction, accountId), done: { action, accountId, details: { reason } } };
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
): Promise<AccountDetail | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const before = await lockAccount(transaction, accountId);
    if (before === undefined) return { answer: undefined };
    const createRate = wanted.createRate === undefined ? before.createRate : (wanted.createRate ?? undefined);
    const { maxUnfinishedTasks = before.maxUnfinishedTasks } = wanted;
    const [from, to] = [limitsOf(before), limitsOf({ maxUnfinishedTasks, createRate })];
    if (JSON.stringify(from) === JSON.stringify(to)) return { answer: before };
    await setAccountLimits(transaction, accountId, { maxUnfinishedTasks, createRate });
    const answer = await changed(transaction, accountId);
    return { answer, done: { action: 'accounts.limits', accountId, details: { from, to } } };
  });
}

function limitsOf({ maxUnfinishedTasks, createRate }: Pick<AccountDetail, 'maxUnfinishedTasks' | 'createRate'>) {
  const creates = createRate === undefined ? null : { quota: createRate.quota, windowMs: createRate.windowMs };
  return { maxUnfinishedTasks, creates };
}

async function changed(transaction: Database, accountId: string): Promise<AccountDetail> {
  const account = await findAccountDetail(transaction, accountId);
  if (account === undefined) throw new Error(`account ${accountId} is gone`);
  return account;
}
