import type { Dialect } from '../domain/api-key.ts';
import type { Price as ListedRate } from '../domain/price.ts';
import { type Rate, rateLeft, type RateLeft } from '../domain/rate-limit.ts';
import { fingerprint } from '../domain/task-input.ts';
import type { TaskParam, TaskState } from '../domain/task.ts';
import { type Database, isDeadlock, violatedUniqueConstraint } from './database.ts';

export type NewTask = {
  /** A UUID made by the caller, version 7 so that tasks lie in order of arrival. */
  readonly taskId: string;
  readonly accountId: string;
  /** The key that asks for it; nothing new is accepted for one that is revoked or has expired by now. */
  readonly keyId?: string | undefined;
  readonly param: TaskParam;
  /** What the catalogue says that a second costs; counts where no operator has decided otherwise. */
  readonly listedRates: readonly ListedRate[];
  /** What the catalogue says of its generation; the task keeps both. Without them the catalogue of the worker counts. */
  readonly deadlineMs?: number | undefined;
  readonly providers?: readonly string[] | undefined;
  readonly idempotencyKey?: string | undefined;
  /** How fast an account may create tasks unless it has a rate of its own; no limit without it. */
  readonly createRate?: Rate | undefined;
  /** How its callback speaks; native without it. */
  readonly dialect?: Dialect | undefined;
};

export type Acceptance =
  | Accepted
  /** The same idempotency key came before with the same body: the first answer again. `state` is the task's own by now. */
  | {
      readonly kind: 'replayed';
      readonly taskId: string;
      readonly creditsCharged: number;
      readonly state: TaskState;
    }
  | { readonly kind: 'key_reused' }
  | { readonly kind: 'insufficient_credits'; readonly required: number; readonly balance: number }
  | { readonly kind: 'too_many_unfinished_tasks'; readonly limit: number }
  | { readonly kind: 'too_fast'; readonly rate: CreateRate }
  | { readonly kind: 'key_not_active' }
  | { readonly kind: 'account_suspended' }
  | { readonly kind: 'account_not_found' };

export type Accepted = {
  readonly kind: 'accepted';
  readonly taskId: string;
  readonly creditsCharged: number;
  /** Undefined when the account has no limit. */
  readonly rate?: CreateRate;
};

/** The rate that an account's creates are held to, and what is left of it. */
export type CreateRate = { readonly limit: Rate; readonly left: RateLeft };

/**
 * Accepts a task: price, charge, task row and ledger entry in one statement, whose commit is the acceptance. The price is the
 * one in force at the task's `createdAt`. Nothing is charged unless the answer is `accepted`. May be repeated with the same
 * `taskId`: it answers `replayed`.
 */
export async function acceptTask(db: Database, task: NewTask): Promise<Acceptance> {
  return (await insert(db, task)) ?? acceptOrRefuse(db, task);
}

const maxTries = 5;

/** As `acceptTask`, for a task that could not be accepted a moment ago: looks first for what stands in its way. */
export async function acceptOrRefuse(db: Database, task: NewTask): Promise<Acceptance> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    // What stood in the way may be gone by the time it is looked for, such as a balance that has just been filled up.
    const answer = (await whyNot(db, task)) ?? (await insert(db, task));
    if (answer !== undefined) return answer;
  }
  throw new Error(`account ${task.accountId} could take a task, and refused it ${maxTries} times`);
}

async function insert(db: Database, task: NewTask): Promise<Accepted | undefined> {
  try {
    const [row] = await db.run<AcceptedRow>(insertTask, insertValues(task));
    return row === undefined ? undefined : acceptedFromRow(task, row);
  } catch (error) {
    // The account's row lock puts rivals in a queue, so the loser of a race arrives here after the winner's commit.
    if (violatedUniqueConstraint(error) === undefined && !isDeadlock(error)) throw error;
    return undefined;
  }
}

export type AcceptedRow = RateRow & { credits: number };
type RateRow = { quota: number | null; window_ms: number | null; due_in_ms: number | null };

export function acceptedFromRow({ taskId }: NewTask, row: AcceptedRow): Accepted {
  const rate = createRateOf(row);
  return { kind: 'accepted', taskId, creditsCharged: row.credits, ...(rate !== undefined && { rate }) };
}

function createRateOf({ quota, window_ms: windowMs, due_in_ms: dueInMs }: RateRow): CreateRate | undefined {
  if (quota === null || windowMs === null) return undefined;
  const limit = { quota, windowMs };
  return { limit, left: rateLeft(limit, dueInMs ?? 0) };
}

// What is asked of both statements below: $1 to $10 are these values.
function askedValues({ taskId, accountId, keyId, param, listedRates, ...rest }: NewTask): unknown[] {
  const { idempotencyKey, createRate } = rest;
  return [
    taskId,
    accountId,
    idempotencyKey,
    createRate?.quota,
    createRate?.windowMs,
    param.model,
    param.input.duration,
    listedRates.map(({ creditsPerSecond }) => creditsPerSecond),
    listedRates.map(({ fromMs }) => fromMs),
    keyId,
  ];
}

// The rule of src/domain/price.ts: the account's own rate of the model, else that for everybody, else the catalogue's. However
// long the statement waits, now() is the task's created_at, and a rate is known to all before it counts (prices.ts).
export const inForce = `withdrawn_at is null and effective_from <= now() order by effective_from desc, id desc limit 1`;
const price = `price as materialized (
  select $7::integer * coalesce(
    (select credits_per_second from rates where model = $6 and account_id = $2 and ${inForce}),
    (select credits_per_second from rates where model = $6 and account_id is null and ${inForce}),
    (select credits from unnest($8::integer[], $9::float8[]) listed (credits, from_ms)
      where to_timestamp(from_ms / 1000) <= now() order by from_ms desc limit 1)
  ) as credits
)`;

/** Whether the key may be used at this moment; true where none is named. Scopes and account of a key never change. */
export const keyIsLive = (keyId: string, accountId: string) => `
  coalesce((select revoked_at is null and (expires_at is null or expires_at > now())
    from api_keys where id = ${keyId} and account_id = ${accountId}), ${keyId} is null)`;

// The account's own rate, else the installation's: quota $4 in $5 ms, or nulls, which make every comparison null. The
// clock is read when the row is locked: whoever waited for the lock must not be judged by the time before it.
const createInterval = `coalesce(create_window_ms, $5::int) * interval '1 millisecond' / coalesce(create_quota, $4::int)`;
const createTolerance = `(coalesce(create_window_ms, $5::int) * interval '1 millisecond' - ${createInterval})`;
const rateColumns = `coalesce(create_quota, $4::int) as quota, coalesce(create_window_ms, $5::int) as window_ms,
  (extract(epoch from create_due_at - clock_timestamp()) * 1000)::float8 as due_in_ms`;

// A replay must be recognised before the account is locked: it would wait for the end of its own task, which is waiting for
// the account (found by test/properties/ledger.test.ts).
const insertTask = {
  name: 'accept-task',
  text: `
with ${price}, account as (
  update accounts set balance = balance - price.credits, unfinished_tasks = unfinished_tasks + 1,
    create_due_at = greatest(create_due_at, clock_timestamp()) + ${createInterval}
  from price
  where id = $2 and balance >= price.credits and unfinished_tasks < max_unfinished_tasks and suspended_at is null
    and (create_due_at <= clock_timestamp() + ${createTolerance}) is not false
    and ${keyIsLive('$10::uuid', '$2')}
    and not exists (select from tasks where id = $1)
    and not exists (select from tasks where account_id = $2 and idempotency_key = $3)
  returning id, balance, price.credits, ${rateColumns}
), task as (
  insert into tasks (id, account_id, model, param, credits_charged, callback_url, idempotency_key, request_sha256,
    dialect, deadline_ms, providers)
  select $1, id, $6, $11, credits, $12, $3, $13, $14, $15, $16 from account
), entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
  select id, $1, 'charge', -credits, balance from account
)
select credits, quota, window_ms, due_in_ms from account`,
};

function insertValues(task: NewTask): unknown[] {
  const { param, dialect = 'native', deadlineMs, providers } = task;
  const kept = [JSON.stringify(param), param.callBackUrl, fingerprint(param), dialect];
  return [...askedValues(task), ...kept, deadlineMs, providers && JSON.stringify(providers)];
}

// One snapshot for both reasons: a twin with the same key that commits between two looks would be missed by the first.
const selectWhyNot = {
  name: 'why-task-was-not-accepted',
  text: `
with ${price}
select balance, unfinished_tasks, max_unfinished_tasks, suspended_at, ${keyIsLive('$10::uuid', '$2')} as key_is_live,
  price.credits, ${rateColumns}, earlier.*
from price cross join accounts left join lateral (
  select id as task_id, credits_charged, request_sha256, state from tasks where id = $1 and account_id = $2
  union all
  select id, credits_charged, request_sha256, state from tasks where account_id = $2 and idempotency_key = $3
  limit 1
) earlier on true
where accounts.id = $2`,
};

type WhyNotRow = {
  balance: number;
  unfinished_tasks: number;
  max_unfinished_tasks: number;
  suspended_at: number | null;
  key_is_live: boolean;
  credits: number | null;
} & RateRow &
  ({ task_id: string; credits_charged: number; request_sha256: Buffer; state: TaskState } | { task_id: null });

/** The earlier answer, or why nothing was accepted, read after the fact; undefined when nothing stands in the way any more. */
async function whyNot(db: Database, task: NewTask): Promise<Acceptance | undefined> {
  const [row] = await db.run<WhyNotRow>(selectWhyNot, askedValues(task));
  if (row === undefined) return { kind: 'account_not_found' };
  // This very task was accepted while key and account were good, and its answer was lost: it stays accepted.
  const isOwn = row.task_id === task.taskId;
  if (!row.key_is_live && !isOwn) return { kind: 'key_not_active' };
  if (row.suspended_at !== null && !isOwn) return { kind: 'account_suspended' };
  if (row.task_id !== null) {
    if (!row.request_sha256.equals(fingerprint(task.param))) return { kind: 'key_reused' };
    return { kind: 'replayed', taskId: row.task_id, creditsCharged: row.credits_charged, state: row.state };
  }
  if (row.credits === null) throw new Error(`no rate of ${task.param.model} is in force, not even in the catalogue`);
  if (row.balance < row.credits) return { kind: 'insufficient_credits', required: row.credits, balance: row.balance };
  if (row.unfinished_tasks >= row.max_unfinished_tasks) {
    return { kind: 'too_many_unfinished_tasks', limit: row.max_unfinished_tasks };
  }
  const rate = createRateOf(row);
  return rate?.left.remaining === 0 ? { kind: 'too_fast', rate } : undefined;
}
