import type { TaskParam, TaskState } from '../domain/task.ts';
import { type Database, violatedUniqueConstraint } from './database.ts';
import { fingerprint } from './request-fingerprint.ts';

export type NewTask = {
  /** A UUID made by the caller, version 7 so that tasks lie in order of arrival. */
  readonly taskId: string;
  readonly accountId: string;
  readonly param: TaskParam;
  readonly creditsCharged: number;
  readonly idempotencyKey?: string | undefined;
};

export type Acceptance =
  | { readonly kind: 'accepted'; readonly taskId: string; readonly creditsCharged: number }
  /** The same idempotency key came before with the same body: the first answer again. `state` is the task's own by now. */
  | {
      readonly kind: 'replayed';
      readonly taskId: string;
      readonly creditsCharged: number;
      readonly state: TaskState;
    }
  | { readonly kind: 'key_reused' }
  | { readonly kind: 'insufficient_credits'; readonly required: number; readonly balance: number }
  | { readonly kind: 'too_many_unfinished'; readonly limit: number }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'no_such_account' };

/**
 * Accepts a task: charge, task row and ledger entry in one statement, whose commit is the acceptance (design, section 2).
 * Nothing is charged unless the answer is `accepted`. May be repeated with the same `taskId`: it answers `replayed`.
 */
export async function acceptTask(db: Database, task: NewTask): Promise<Acceptance> {
  for (let tries = 1; ; tries += 1) {
    if (await isInserted(db, task)) {
      return { kind: 'accepted', taskId: task.taskId, creditsCharged: task.creditsCharged };
    }
    const answer = (await earlierAnswer(db, task)) ?? (await refusal(db, task));
    // What stood in the way may be gone by the time it is looked for, such as a balance that has just been filled up.
    if (answer !== undefined) return answer;
    if (tries === maxTries) throw new Error(`account ${task.accountId} could take a task, and refused it ${maxTries} times`);
  }
}

const maxTries = 5;

async function isInserted(db: Database, task: NewTask): Promise<boolean> {
  try {
    return (await db.run(insertTask, insertValues(task))).length > 0;
  } catch (error) {
    // The account's row lock puts rivals in a queue, so the loser of a race arrives here after the winner's commit.
    if (violatedUniqueConstraint(error) === undefined) throw error;
    return false;
  }
}

const insertTask = {
  name: 'accept-task',
  text: `
with account as (
  update accounts set balance = balance - $3, unfinished_tasks = unfinished_tasks + 1
  where id = $2 and balance >= $3 and unfinished_tasks < max_unfinished_tasks and suspended_at is null
  returning id, balance
), task as (
  insert into tasks (id, account_id, model, param, credits_charged, callback_url, idempotency_key, request_sha256)
  select $1, id, $4, $5, $3, $6, $7, $8 from account
  returning id
), entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
  select account.id, task.id, 'charge', -$3::bigint, account.balance from account, task
)
select id from task`,
};

function insertValues({ taskId, accountId, param, creditsCharged, idempotencyKey }: NewTask): unknown[] {
  return [
    taskId,
    accountId,
    creditsCharged,
    param.model,
    JSON.stringify(param),
    param.callBackUrl,
    idempotencyKey,
    fingerprint(param),
  ];
}

const selectEarlier = {
  name: 'find-earlier-acceptance',
  text: `
select id, credits_charged, request_sha256, state from tasks where id = $2 and account_id = $1
union all
select id, credits_charged, request_sha256, state from tasks where account_id = $1 and idempotency_key = $3
limit 1`,
};

type EarlierRow = { id: string; credits_charged: number; request_sha256: Buffer; state: TaskState };

async function earlierAnswer(db: Database, task: NewTask): Promise<Acceptance | undefined> {
  const [earlier] = await db.run<EarlierRow>(selectEarlier, [
    task.accountId,
    task.taskId,
    task.idempotencyKey,
  ]);
  if (earlier === undefined) return undefined;
  if (!earlier.request_sha256.equals(fingerprint(task.param))) return { kind: 'key_reused' };
  const { id: taskId, credits_charged: creditsCharged, state } = earlier;
  return { kind: 'replayed', taskId, creditsCharged, state };
}

const selectAccount = {
  name: 'find-account-limits',
  text: `select balance, unfinished_tasks, max_unfinished_tasks, suspended_at from accounts where id = $1`,
};

type AccountLimits = {
  balance: number;
  unfinished_tasks: number;
  max_unfinished_tasks: number;
  suspended_at: number | null;
};

/** Why nothing was accepted, read after the fact; undefined when nothing stands in the way any more. */
async function refusal(db: Database, task: NewTask): Promise<Acceptance | undefined> {
  const [account] = await db.run<AccountLimits>(selectAccount, [task.accountId]);
  if (account === undefined) return { kind: 'no_such_account' };
  if (account.suspended_at !== null) return { kind: 'account_suspended' };
  if (account.balance < task.creditsCharged) {
    return { kind: 'insufficient_credits', required: task.creditsCharged, balance: account.balance };
  }
  const isFull = account.unfinished_tasks >= account.max_unfinished_tasks;
  return isFull ? { kind: 'too_many_unfinished', limit: account.max_unfinished_tasks } : undefined;
}
