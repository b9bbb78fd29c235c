import { deletedMessage } from '../tasks/deleted-content.ts';
import type { Actor } from '../operators/operator.ts';
import { type Database, violatedUniqueConstraint } from '../platform/database/database.ts';
import { recordAction } from '../operators/operator-actions.ts';
import { many, maybeOne, none } from '../platform/database/statement.ts';
import { microseconds, pageStart } from '../platform/database/sql.ts';
import { findTask } from '../tasks/tasks.ts';

/** `rejected`: the receiver responded with 410 Gone. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'rejected'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The callback of a task. Times are Unix milliseconds. */
export type Delivery = {
  readonly taskId: string;
  readonly accountId: string;
  readonly accountName?: string | undefined;
  readonly url: string;
  /** The API that spells the callback: a dialect, or a shape of `src/ingress`. */
  readonly dialect: string;
  readonly state: DeliveryState;
  /** Requested redeliveries. */
  readonly redeliveries: number;
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  /** The latest start of the next attempt; meaningless after the end of the delivery. */
  readonly dueAt: number;
};

/** One attempt. It has an HTTP status, or the kind of a network error. */
export type DeliveryAttempt = {
  readonly attempt: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly status: number | undefined;
  /** Shown to operators only; clients get the same message for every kind. */
  readonly error: string | undefined;
  /** The first 1 KiB of the response, shown to operators only. */
  readonly responseHead: Buffer | undefined;
};

/** The columns of `callback_deliveries` as the fields of a `Delivery`. */
export const deliveryColumns = `task_id as "taskId", account_id as "accountId", url, state, redeliveries, created_at as "createdAt",
  finished_at as "finishedAt", due_at as "dueAt", (select dialect from tasks where id = task_id) as dialect,
  (select name from accounts where accounts.id = account_id) as "accountName"`;

/** Returns undefined while the task runs, and for a task without `callBackUrl`. */
export const findDelivery = maybeOne<Delivery, [taskId: string]>({
  name: 'find-delivery',
  text: `select ${deliveryColumns} from callback_deliveries where task_id = $1`,
});

const owe = maybeOne<Delivery, [taskId: string]>({
  name: 'request-redelivery',
  text: `
update callback_deliveries set state = 'pending', redeliveries = redeliveries + 1, finished_at = null, due_at = now()
where task_id = $1 returning ${deliveryColumns}`,
});

/** The task's content was deleted, so its callback is not sent again. */
export class ContentDeleted extends Error {
  override readonly name = 'ContentDeleted';

  constructor() {
    super(deletedMessage);
  }
}

/** Makes the callback pending again, in any state. Returns undefined if there is no callback. Throws `ContentDeleted`. */
export async function requestRedelivery(db: Pick<Database, 'run'>, taskId: string): Promise<Delivery | undefined> {
  const owed = await owe(db, taskId);
  // The deletion may have been committed while this waited for it.
  if (owed === undefined && (await findTask(db, taskId))?.contentDeletedAt !== undefined) throw new ContentDeleted();
  return owed;
}

/** Does the same for an operator, with an entry in the audit log. */
export function redeliverAs(db: Database, actor: Actor, taskId: string): Promise<Delivery | undefined> {
  return recordAction(db, actor, async (transaction) => {
    const answer = await requestRedelivery(transaction, taskId);
    if (answer === undefined) return { answer };
    const { accountId, redeliveries } = answer;
    return { answer, done: { action: 'callbacks.redeliver', accountId, taskId, details: { redeliveries } } };
  });
}

export type OverdueDelivery = Pick<Delivery, 'taskId' | 'accountId'> & {
  /** The cursor, because an attempt moves the row and a deletion removes it. */
  readonly dueAtUs: number;
};

/** Lists callbacks whose next attempt is overdue by `minAgeMs`, longest first. */
export const listPendingDeliveries = many<
  OverdueDelivery,
  [page: { minAgeMs: number; after?: Pick<OverdueDelivery, 'dueAtUs' | 'taskId'> | undefined; limit: number }]
>({
  name: 'list-overdue-deliveries',
  text: `
select task_id as "taskId", account_id as "accountId", ${microseconds('due_at')} as "dueAtUs"
from callback_deliveries
where state = 'pending' and due_at < now() - $1 * interval '1 millisecond' and (due_at, task_id) > ${pageStart('$2', '$3')}
order by due_at, task_id limit $4`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after?.dueAtUs, after?.taskId, limit],
});

/** Includes the time, because a redelivery removes the callback from the list. */
export type FailedDeliveryCursor = { readonly finishedAtUs: number; readonly taskId: string };

/** Lists failed and rejected callbacks of all accounts, the latest end first. */
export const listFailedDeliveries = many<
  Delivery & FailedDeliveryCursor,
  [page: { after?: FailedDeliveryCursor | undefined; limit: number }]
>({
  name: 'list-failed-deliveries',
  text: `
select ${deliveryColumns}, ${microseconds('finished_at')} as "finishedAtUs" from callback_deliveries
where state in ('failed', 'rejected') and (finished_at, task_id) < ${pageStart('$1', '$2', 'infinity')}
order by finished_at desc, task_id desc limit $3`,
  values: ({ after, limit }) => [after?.finishedAtUs, after?.taskId, limit],
});

/** Stored attempts per delivery, because a client may request any number of redeliveries. */
export const maxAttempts = 100;

const attemptsOf = many<DeliveryAttempt & { readonly taskId: string }, [taskIds: readonly string[], limit: number]>({
  name: 'list-delivery-attempts',
  text: `
select latest.task_id as "taskId", attempt, started_at as "startedAt", duration_ms as "durationMs", status, error,
  response_head as "responseHead"
from unnest($1::uuid[]) delivery cross join lateral (
  select * from callback_attempts where task_id = delivery order by attempt desc limit $2) latest
order by attempt desc`,
});

/** Lists the latest attempts, newest first. */
export async function listDeliveryAttempts(
  db: Pick<Database, 'run'>,
  taskId: string,
): Promise<readonly DeliveryAttempt[]> {
  const attempts = await attemptsOf(db, [taskId], maxAttempts);
  return attempts.map(({ taskId: _delivery, ...attempt }) => attempt);
}

export const attemptsInList = 10;

/** Adds to each delivery its latest attempts. */
export async function withAttempts<Row extends Delivery>(db: Pick<Database, 'run'>, deliveries: readonly Row[]) {
  const taskIds = deliveries.map(({ taskId }) => taskId);
  const attempts = await attemptsOf(db, taskIds, attemptsInList);
  return deliveries.map((delivery) => {
    return { ...delivery, attempts: attempts.filter(({ taskId }) => taskId === delivery.taskId) };
  });
}

export type MadeAttempt = {
  readonly delivery: Pick<Delivery, 'taskId' | 'redeliveries'>;
  readonly attempt: Omit<DeliveryAttempt, 'attempt'>;
  /** The delivery's new state, and for a pending one the latest start of the next attempt. */
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
where task_id = $1 and redeliveries = $2 and state = 'pending'`,
  values: ({ delivery: { taskId, redeliveries }, attempt, verdict }) => {
    const { startedAt, durationMs, status, error, responseHead } = attempt;
    return [taskId, redeliveries, startedAt, durationMs, status, error, responseHead, verdict.state, verdict.dueAt];
  },
});

/**
 * Adds an attempt to the delivery's log and updates the delivery. If a redelivery was requested in the meantime, the attempt is logged
 * and the delivery stays pending.
 */
export async function recordDeliveryAttempt(db: Database, made: MadeAttempt): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await insertAttempt(db, made);
      return;
    } catch (error) {
      // A concurrent attempt took the number, for example of a worker that was considered dead.
      if (violatedUniqueConstraint(error) === undefined || tries === maxTries) throw error;
    }
  }
}

const maxTries = 5;
