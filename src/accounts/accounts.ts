import { isDeepStrictEqual } from 'node:util';
import type { Actor } from './operators/actors-and-actions.ts';
import type { Rate } from '../platform/timing/parse-rate-and-rate-left.ts';
import type { Database } from '../platform/database/database.ts';
import { changeWithAudit } from './operators/audit-log.ts';
import { maybeOne, type StatementRunner } from '../platform/database/declare-statements.ts';

/** Times are Unix milliseconds. */
export type Account = {
  readonly accountId: string;
  readonly name: string;
  readonly balance: number;
  readonly unfinishedTasks: number;
  readonly maxUnfinishedTasks: number;
  /** The account's own rate of creates; undefined for the installation's. */
  readonly createRate: Rate | undefined;
  readonly suspendedAt: number | undefined;
  /** A closed account stays suspended, and the content of its tasks is deleted. */
  readonly closedAt: number | undefined;
  readonly createdAt: number;
};

/** SQL: the account's own rate of creates; null without one. */
export const ownCreateRateColumnSql = `
  case when create_quota is not null then json_build_object('quota', create_quota, 'windowMs', create_window_ms) end
    as "createRate"`;

export const accountColumnsSql = `id as "accountId", name, balance, unfinished_tasks as "unfinishedTasks",
  max_unfinished_tasks as "maxUnfinishedTasks", suspended_at as "suspendedAt", closed_at as "closedAt",
  created_at as "createdAt", ${ownCreateRateColumnSql}`;

const selectAccount = `select ${accountColumnsSql} from accounts where id = $1`;

export const findAccount = maybeOne<Account, [accountId: string]>({ name: 'find-account', text: selectAccount });

export const lockAccount = maybeOne<Account, [accountId: string]>({
  name: 'lock-account',
  text: `${selectAccount} for no key update`,
});

export class AccountClosedError extends Error {
  override readonly name = 'AccountClosedError';

  constructor(accountId: string) {
    super(`account ${accountId} is closed for good`);
  }
}

/** Locks an open account, which stays open until the transaction ends. Throws `AccountClosedError` for a closed one. */
export async function lockOpenAccount(db: StatementRunner, accountId: string): Promise<Account | undefined> {
  const account = await lockAccount(db, accountId);
  if (account?.closedAt !== undefined) throw new AccountClosedError(accountId);
  return account;
}

type Limits = Pick<Account, 'maxUnfinishedTasks' | 'createRate'>;

/**
 * The limits apply from the next create on, and earlier creates do not count towards the rate. Returns undefined for an unknown account.
 */
export const setAccountLimits = maybeOne<Account, [accountId: string, limits: Limits]>({
  name: 'set-account-limits',
  text: `
update accounts set max_unfinished_tasks = $2, create_quota = $3, create_window_ms = $4, create_due_at = null
where id = $1 returning ${accountColumnsSql}`,
  values: (accountId, { maxUnfinishedTasks: max, createRate: rate }) => [accountId, max, rate?.quota, rate?.windowMs],
});

const setSuspended = maybeOne<Account, [accountId: string, suspended: boolean, reason: string]>({
  name: 'suspend-account',
  text: `
update accounts set suspended_at = case when $2 then now() end, suspension_reason = case when $2 then $3 end
where id = $1 returning ${accountColumnsSql}`,
});

export type SuspensionChange = { readonly accountId: string; readonly suspended: boolean; readonly reason: string };

/** Suspends an account or lifts its suspension. Returns undefined for an unknown account. Throws `AccountClosedError`. */
export function setAccountSuspendedAs(
  db: Database,
  actor: Actor,
  { accountId, suspended, reason }: SuspensionChange,
): Promise<Account | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const before = await lockOpenAccount(transaction, accountId);
    const isUnchanged = (before?.suspendedAt !== undefined) === suspended;
    if (before === undefined || isUnchanged) return { answer: before };
    const answer = await setSuspended(transaction, accountId, suspended, reason);
    const action = suspended ? 'accounts.suspend' : 'accounts.unsuspend';
    return { answer, done: { action, accountId, details: { reason } } };
  });
}

/** A limit that is left out stays unchanged. */
export type LimitChange = {
  readonly accountId: string;
  readonly maxUnfinishedTasks?: number | undefined;
  /** Null for the installation's limit. */
  readonly createRate?: Rate | null | undefined;
};

/** The limits apply from the next create on. Returns undefined for an unknown account. Throws `AccountClosedError`. */
export function changeAccountLimitsAs(
  db: Database,
  actor: Actor,
  { accountId, ...change }: LimitChange,
): Promise<Account | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const before = await lockOpenAccount(transaction, accountId);
    if (before === undefined) return { answer: undefined };
    const createRate = change.createRate === undefined ? before.createRate : (change.createRate ?? undefined);
    const { maxUnfinishedTasks = before.maxUnfinishedTasks } = change;
    const [from, to] = [limitsOf(before), limitsOf({ maxUnfinishedTasks, createRate })];
    if (isDeepStrictEqual(from, to)) return { answer: before };
    const answer = await setAccountLimits(transaction, accountId, { maxUnfinishedTasks, createRate });
    return { answer, done: { action: 'accounts.limits', accountId, details: { from, to } } };
  });
}

function limitsOf({ maxUnfinishedTasks, createRate }: Limits) {
  return { maxUnfinishedTasks, creates: createRate ?? null };
}
