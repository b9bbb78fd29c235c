import type { Dialect } from '../domain/api-key.ts';
import type { Actor } from '../domain/operator.ts';
import type { Database } from './database.ts';
import { recordAction } from './operator-actions.ts';

/** `pending` is still to be delivered; `gone` was refused for good by the receiver (410). */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'gone';

/** The callback owed for a task. Its `webhook-id` is derived from the task and so the same over all attempts. Times are Unix milliseconds. */
export type Delivery = {
  readonly taskId: string;
  readonly accountId: string;
  readonly url: string;
  /** That of the key which created the task. */
  readonly dialect: Dialect;
  readonly state: DeliveryState;
  /** 1 at first, one more with each redelivery that was asked for. */
  readonly round: number;
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  /** When the next attempt begins at the latest; means nothing once the delivery has ended. */
  readonly dueAt: number;
};

/** What came of one attempt: an HTTP status, or the kind of network error. */
export type DeliveryAttempt = {
  readonly attempt: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  /** For operators: to a client every kind is the same. */
  readonly error: string | undefined;
  /** The first 1 KiB of the answer, for the operator's eyes only. */
  readonly responseHead: Buffer | undefined;
};

const deliveryColumns = `task_id, account_id, url, (select dialect from tasks where id = task_id) as dialect, state, round,
  created_at, finished_at, due_at`;

type DeliveryRow = {
  task_id: string;
  account_id: string;
  url: string;
  dialect: Dialect;
  state: DeliveryState;
  round: number;
  created_at: number;
  finished_at: number | null;
  due_at: number;
};

function deliveryFromRow(row: DeliveryRow): Delivery {
  return {
    taskId: row.task_id,
    accountId: row.account_id,
    url: row.url,
    dialect: row.dialect,
    state: row.state,
    round: row.round,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    dueAt: row.due_at,
  };
}

const selectDelivery = {
  name: 'find-delivery',
  text: `select ${deliveryColumns} from callback_deliveries where task_id = $1`,
};

/** The callback of a task, or undefined while the task runs or when it was created without `callBackUrl`. */
export async function findDelivery(db: Database, taskId: string): Promise<Delivery | undefined> {
  const [row] = await db.run<DeliveryRow>(selectDelivery, [taskId]);
  return row === undefined ? undefined : deliveryFromRow(row);
}

/** Attempts that are kept of a delivery; older ones are dropped, for a client may ask for redelivery without end. */
export const maxAttempts = 100;

const redeliver = {
  name: 'ask-for-redelivery',
  text: `
update callback_deliveries set state = 'pending', round = round + 1, finished_at = null, due_at = now()
where task_id = $1 returning ${deliveryColumns}`,
};

/** Owes the callback anew, however it stands: from this commit on it will be sent. Undefined when there is none to send. */
export async function askForRedelivery(db: Database, taskId: string): Promise<Delivery | undefined> {
  const [row] = await db.run<DeliveryRow>(redeliver, [taskId]);
  return row === undefined ? undefined : deliveryFromRow(row);
}

/** Owes the callback of a task of any account anew; undefined when there is none to send. */
export function redeliverAs(db: Database, actor: Actor, taskId: string): Promise<Delivery | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const answer = await askForRedelivery(transaction, taskId);
    if (answer === undefined) return { answer };
    const { accountId, round } = answer;
    return { answer, done: { action: 'callbacks.redeliver', accountId, taskId, details: { round } } };
  });
}

const selectPending = {
  name: 'list-overdue-deliveries',
  text: `
select task_id, account_id from callback_deliveries
where state = 'pending' and due_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (due_at, task_id) > (select due_at, task_id from callback_deliveries where task_id = $2))
order by due_at, task_id limit $3`,
};

/**
 * Callbacks whose next attempt is overdue by `minAgeMs`, longest first, a bounded page of them after the given one. Those
 * that wait for their turn in the schedule are not among them.
 */
export async function listPendingDeliveries(
  db: Database,
  { minAgeMs, after, limit }: { minAgeMs: number; after?: string | undefined; limit: number },
): Promise<readonly Pick<Delivery, 'taskId' | 'accountId'>[]> {
  const rows = await db.run<{ task_id: string; account_id: string }>(selectPending, [minAgeMs, after, limit]);
  return rows.map((row) => ({ taskId: row.task_id, accountId: row.account_id }));
}

const selectFailed = {
  name: 'list-failed-deliveries',
  text: `
select ${deliveryColumns}, (extract(epoch from finished_at) * 1000000)::bigint as finished_us from callback_deliveries
where state in ('failed', 'gone') and (finished_at, task_id) < (
  coalesce(timestamptz 'epoch' + $1::float8 * interval '1 microsecond', 'infinity'),
  coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
order by finished_at desc, task_id desc limit $3`,
};

/** Where a page of failed callbacks ends: a redelivery takes the callback itself out of the list, so its time is kept. */
export type FailedDeliveryCursor = { readonly finishedAtUs: number; readonly taskId: string };

/** Callbacks of all accounts that were given up or refused for good, those that ended last first, at most `limit`. */
export async function listFailedDeliveries(
  db: Database,
  { after, limit }: { after?: FailedDeliveryCursor | undefined; limit: number },
): Promise<readonly (Delivery & FailedDeliveryCursor)[]> {
  type Row = DeliveryRow & { finished_us: number };
  const rows = await db.run<Row>(selectFailed, [after?.finishedAtUs, after?.taskId, limit]);
  return rows.map((row) => ({ ...deliveryFromRow(row), finishedAtUs: row.finished_us }));
}

const selectAttempts = {
  name: 'list-delivery-attempts',
  text: `
select attempt, started_at, duration_ms, status, error, response_head from callback_attempts
where task_id = $1 order by attempt desc limit ${maxAttempts}`,
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
