import type { Database } from './database.ts';

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'gone';

/** The callback owed for a task. Its `webhook-id` is derived from the task and so the same over all attempts. */
export type Delivery = {
  readonly taskId: string;
  readonly accountId: string;
  readonly url: string;
  readonly state: DeliveryState;
  /** Attempts made so far. */
  readonly attempts: number;
};

/** What came of one attempt: an HTTP status, or the kind of network error. */
export type DeliveryAttempt = {
  readonly attempt: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** The first 1 KiB of the answer, for the operator's eyes only. */
  readonly responseHead: Buffer | undefined;
};

const selectDelivery = {
  name: 'find-delivery',
  text: `
select task_id, account_id, url, state, (select count(*) from callback_attempts a where a.task_id = d.task_id) as attempts
from callback_deliveries d where task_id = $1`,
};

export async function findDelivery(db: Database, taskId: string): Promise<Delivery | undefined> {
  type Row = { task_id: string; account_id: string; url: string; state: DeliveryState; attempts: number };
  const [row] = await db.run<Row>(selectDelivery, [taskId]);
  if (row === undefined) return undefined;
  return { taskId: row.task_id, accountId: row.account_id, url: row.url, state: row.state, attempts: row.attempts };
}

const insertAttempt = {
  name: 'record-delivery-attempt',
  text: `
insert into callback_attempts (task_id, attempt, started_at, duration_ms, status, error, response_head)
select $1, 1 + coalesce(max(attempt), 0), to_timestamp($2::float8 / 1000), $3, $4, $5, $6
from callback_attempts where task_id = $1`,
};

/** Adds an attempt to the delivery's log, numbered after the last one. */
export async function recordDeliveryAttempt(
  db: Database,
  taskId: string,
  { startedAt, durationMs, status, error, responseHead }: Omit<DeliveryAttempt, 'attempt'>,
): Promise<void> {
  await db.run(insertAttempt, [taskId, startedAt, durationMs, status, error, responseHead]);
}

const finish = {
  name: 'finish-delivery',
  text: `
update callback_deliveries set state = $2, finished_at = now()
where task_id = $1 and (state = 'pending' or $2 = 'delivered')`,
};

/** Ends a delivery. A redelivery that succeeds turns an earlier failure into `delivered`; nothing undoes `delivered`. */
export async function finishDelivery(
  db: Database,
  taskId: string,
  state: Exclude<DeliveryState, 'pending'>,
): Promise<void> {
  await db.run(finish, [taskId, state]);
}

const selectPending = {
  name: 'list-pending-deliveries',
  text: `
select task_id, account_id from callback_deliveries
where state = 'pending' and created_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (created_at, task_id) > (select created_at, task_id from callback_deliveries where task_id = $2))
order by created_at, task_id limit $3`,
};

/** Callbacks still owed after `minAgeMs`, oldest first, a bounded page of them after the given one. */
export async function listPendingDeliveries(
  db: Database,
  { minAgeMs, after, limit }: { minAgeMs: number; after?: string | undefined; limit: number },
): Promise<readonly Pick<Delivery, 'taskId' | 'accountId'>[]> {
  const rows = await db.run<{ task_id: string; account_id: string }>(selectPending, [minAgeMs, after, limit]);
  return rows.map((row) => ({ taskId: row.task_id, accountId: row.account_id }));
}

const selectAttempts = {
  name: 'list-delivery-attempts',
  text: `
select attempt, started_at, duration_ms, status, error, response_head from callback_attempts
where task_id = $1 order by attempt desc limit 100`,
};

type AttemptRow = {
  attempt: number;
  started_at: number;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response_head: Buffer | null;
};

/** The latest attempts of a delivery, newest first, at most 100. */
export async function listDeliveryAttempts(db: Database, taskId: string): Promise<readonly DeliveryAttempt[]> {
  const rows = await db.run<AttemptRow>(selectAttempts, [taskId]);
  return rows.map((row) => ({
    attempt: row.attempt,
    startedAt: row.started_at,
    durationMs: row.duration_ms,
    status: row.status ?? undefined,
    error: row.error ?? undefined,
    responseHead: row.response_head ?? undefined,
  }));
}
