import type { Dialect } from '../domain/api-key.ts';
import { deletedMessage } from '../domain/deleted-content.ts';
import type { Actor } from '../domain/operator.ts';
import { type Database, violatedUniqueConstraint } from './database.ts';
import { recordAction } from './operator-actions.ts';
import { many, maybeOne, none } from './statement.ts';
import { findTask } from './tasks.ts';

/** `pending` is still to be delivered; `gone` was refused for good by the receiver (410). */
export const deliveryStates = ['pending', 'delivered', 'failed', 'gone'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

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

/** The columns of `callback_deliveries` as the fields of a `Delivery`. */
export const deliveryColumns = `task_id as "taskId", account_id as "accountId", url, state, round, created_at as "createdAt",
  finished_at as "finishedAt", due_at as "dueAt", (select dialect from tasks where id = task_id) as dialect`;

/** The callback of a task, or undefined while the task runs or when it was created without `callBackUrl`. */
export const findDelivery = maybeOne<Delivery, [taskId: string]>({
  name: 'find-delivery',
  text: `select ${deliveryColumns} from callback_deliveries where task_id = $1`,
});

const owe = maybeOne<Delivery, [taskId: string]>({
  name: 'ask-for-redelivery',
  text: `
update callback_deliveries set state = 'pending', round = round + 1, finished_at = null, due_at = now()
where task_id = $1 returning ${deliveryColumns}`,
});

/** What the task was about was deleted, and its callback is not sent again. */
export class ContentDeleted extends Error {
  override readonly name = 'ContentDeleted';

  constructor() {
    super(deletedMessage);
  }
}

/**
 * Owes the callback anew, however it stands: from this commit on it will be sent. Undefined when there is none to send. Throws
 * `ContentDeleted`.
 */
export async function askForRedelivery(db: Pick<Database, 'run'>, taskId: string): Promise<Delivery | undefined> {
  const owed = await owe(db, taskId);
  // The deletion may have been committed while this waited for it.
  if (owed === undefined && (await findTask(db, taskId))?.contentDeletedAt !== undefined) throw new ContentDeleted();
  return owed;
}

/** Owes the callback of a task of any account anew; undefined when there is none to send. Throws `ContentDeleted`. */
export function redeliverAs(db: Database, actor: Actor, taskId: string): Promise<Delivery | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const answer = await askForRedelivery(transaction, taskId);
    if (answer === undefined) return { answer };
    const { accountId, round } = answer;
    return { answer, done: { action: 'callbacks.redeliver', accountId, taskId, details: { round } } };
  });
}

export type OverdueDelivery = Pick<Delivery, 'taskId' | 'accountId'> & {
  /** Its place in the list, kept because an attempt moves the callback, and a deletion takes it out. */
  readonly dueAtUs: number;
};

/**
 * Callbacks whose next attempt is overdue by `minAgeMs`, longest first, a bounded page of them after the given one. Those
 * that wait for their turn in the schedule are not among them.
 */
export const listPendingDeliveries = many<
  OverdueDelivery,
  [page: { minAgeMs: number; after?: Pick<OverdueDelivery, 'dueAtUs' | 'taskId'> | undefined; limit: number }]
>({
  name: 'list-overdue-deliveries',
  text: `
select task_id as "taskId", account_id as "accountId", (extract(epoch from due_at) * 1000000)::bigint as "dueAtUs"
from callback_deliveries
where state = 'pending' and due_at < now() - $1 * interval '1 millisecond' and (due_at, task_id) > (
  coalesce(timestamptz 'epoch' + $2::float8 * interval '1 microsecond', '-infinity'),
  coalesce($3::uuid, '00000000-0000-0000-0000-000000000000'))
order by due_at, task_id limit $4`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after?.dueAtUs, after?.taskId, limit],
});

/** Where a page of failed callbacks ends: a redelivery takes the callback itself out of the list, so its time is kept. */
export type FailedDeliveryCursor = { readonly finishedAtUs: number; readonly taskId: string };

/** Callbacks of all accounts that were given up or refused for good, those that ended last first, at most `limit`. */
export const listFailedDeliveries = many<
  Delivery & FailedDeliveryCursor,
  [page: { after?: FailedDeliveryCursor | undefined; limit: number }]
>({
  name: 'list-failed-deliveries',
  text: `
select ${deliveryColumns}, (extract(epoch from finished_at) * 1000000)::bigint as "finishedAtUs" from callback_deliveries
where state in ('failed', 'gone') and (finished_at, task_id) < (
  coalesce(timestamptz 'epoch' + $1::float8 * interval '1 microsecond', 'infinity'),
  coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
order by finished_at desc, task_id desc limit $3`,
  values: ({ after, limit }) => [after?.finishedAtUs, after?.taskId, limit],
});

/** Attempts that are kept of a delivery; older ones are dropped, for a client may ask for redelivery without end. */
export const maxAttempts = 100;

/** The latest attempts of a delivery, newest first. */
export const listDeliveryAttempts = many<DeliveryAttempt, [taskId: string]>({
  name: 'list-delivery-attempts',
  text: `
select attempt, started_at as "startedAt", duration_ms as "durationMs", status, error, response_head as "responseHead"
from callback_attempts where task_id = $1 order by attempt desc limit ${maxAttempts}`,
});

/** An attempt at a delivery that stood in this round, and what came of it. */
export type MadeAttempt = {
  readonly delivery: Pick<Delivery, 'taskId' | 'round'>;
  readonly attempt: Omit<DeliveryAttempt, 'attempt'>;
  /** What it means for the delivery: how that ended, or by when (Unix milliseconds) it is tried again. */
  readonly verdict: Pick<Delivery, 'state' | 'dueAt'>;
};

const insertAttempt = none<[made: MadeAttempt]>({
  name: 'record-delivery-attempt',
  text: `
with made as materialized (
  select 1 + coalesce(max(attempt), 0) as attempt from callback_attempts where task_id = $1
), logged as (
  insert into callback_attempts (task_id, attempt, started_at, duration_ms, status, error, response_head)
  select $1, attempt, to_timestamp($3::float8 / 1000), $4, $5, $6, $7 from made
), trimmed as (
  delete from callback_attempts using made
  where task_id = $1 and callback_attempts.attempt <= made.attempt - ${maxAttempts}
)
update callback_deliveries set state = $8, due_at = to_timestamp($9::float8 / 1000),
  finished_at = case when $8 = 'pending' then null else now() end
where task_id = $1 and round = $2 and state = 'pending'`,
  values: ({ delivery: { taskId, round }, attempt, verdict }) => {
    const { startedAt, durationMs, status, error, responseHead } = attempt;
    return [taskId, round, startedAt, durationMs, status, error, responseHead, verdict.state, verdict.dueAt];
  },
});

/**
 * Adds an attempt to the log of its delivery, numbered after the last one, and moves the delivery on. When a redelivery was
 * asked for meanwhile, the attempt is logged and the delivery stays owed.
 */
export async function recordDeliveryAttempt(db: Database, made: MadeAttempt): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await insertAttempt(db, made);
      return;
    } catch (error) {
      // Another attempt at the same task took the number, as when a worker was taken for dead. A callback that is not recorded is sent again.
      if (violatedUniqueConstraint(error) === undefined || tries === maxTries) throw error;
    }
  }
}

const maxTries = 5;
