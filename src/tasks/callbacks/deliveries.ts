import type { EventType } from './account-event-types-and-body.ts';
import type { RecordedExchange } from './recorded-exchange.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { type Database, violatedUniqueConstraint } from '../../platform/database/database.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import {
  microsecondsSql,
  pageStartRowSql,
  type TimedCursor,
} from '../../platform/database/sql-fragments-and-parameters.ts';

/** `rejected`: the receiver responded with 410 Gone. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'rejected'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The callback of a task, or an event of an account. Times are Unix milliseconds. */
export type Delivery = {
  /** The id of the task for its callback, and that of the event for an event. */
  readonly deliveryId: string;
  readonly accountId: string;
  readonly accountName?: string | undefined;
  /** Undefined for an event that is about no task. */
  readonly taskId: string | undefined;
  /** Undefined for a callback. */
  readonly event: EventType | undefined;
  /** The data of an event that is about no task. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly url: string;
  /** The API that spells a callback: a dialect, or a shape of `src/api/dialects`. */
  readonly dialect: string;
  readonly state: DeliveryState;
  /** Requested redeliveries. */
  readonly redeliveries: number;
  readonly createdAt: number;
  readonly finishedAt: number | undefined;
  /** The latest start of the next attempt. After the last attempt, the latest time at which that attempt could have ended. */
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
  /** The first 1 KiB of the response. Clients may read it only if its server is public, as `exchange` states. */
  readonly responseHead: Buffer | undefined;
};

/** Lists leave the exchange out, because it is many times the size of the rest. */
export type RecordedAttempt = DeliveryAttempt & { readonly exchange?: RecordedExchange | undefined };

/** The columns of `callback_deliveries` as the fields of a `Delivery`. */
export const deliveryColumns = `callback_deliveries.id as "deliveryId", callback_deliveries.account_id as "accountId",
  task_id as "taskId", event, details, callback_deliveries.url, state, redeliveries, created_at as "createdAt",
  finished_at as "finishedAt", due_at as "dueAt",
  coalesce((select dialect from tasks where tasks.id = callback_deliveries.id), 'native') as dialect,
  (select name from accounts where accounts.id = callback_deliveries.account_id) as "accountName"`;

/** Finds a delivery; that of a task's callback by the id of the task, which has none while it runs or without `callBackUrl`. */
export const findDelivery = maybeOne<Delivery, [deliveryId: string]>({
  name: 'find-delivery',
  text: `select ${deliveryColumns} from callback_deliveries where id = $1`,
});

/** SQL that makes a delivery pending again. */
export const pendingAgainSql = `state = 'pending', redeliveries = redeliveries + 1, finished_at = null, due_at = now()`;

/** Makes the callback pending again, in any state. Returns undefined if there is no callback. */
export const requestRedelivery = maybeOne<Delivery, [deliveryId: string]>({
  name: 'request-redelivery',
  text: `update callback_deliveries set ${pendingAgainSql} where id = $1 returning ${deliveryColumns}`,
});

/** Requests a redelivery for an operator, with an entry in the audit log. */
export function redeliverAs(db: Database, actor: Actor, taskId: string): Promise<Delivery | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const answer = await requestRedelivery(transaction, taskId);
    if (answer === undefined) return { answer };
    const { accountId, redeliveries } = answer;
    return { answer, done: { action: 'callbacks.redeliver', accountId, taskId, details: { redeliveries } } };
  });
}

export type OverdueDelivery = Pick<Delivery, 'deliveryId' | 'accountId' | 'taskId'> & {
  /** The cursor, because an attempt moves the row and a deletion removes it. */
  readonly dueAtUs: number;
};

/**
 * Lists deliveries whose next attempt is overdue by `minAgeMs`, longest first. An event that is about no task is
 * started only from this list, so it is listed as soon as it is due.
 */
export const listOverdueDeliveries = many<
  OverdueDelivery,
  [page: { minAgeMs: number; after?: Pick<OverdueDelivery, 'dueAtUs' | 'deliveryId'> | undefined; limit: number }]
>({
  name: 'list-overdue-deliveries',
  text: `
select id as "deliveryId", account_id as "accountId", task_id as "taskId", ${microsecondsSql('due_at')} as "dueAtUs"
from callback_deliveries
where state = 'pending' and due_at < now() and (task_id is null or due_at < now() - $1 * interval '1 millisecond')
  and (due_at, id) > ${pageStartRowSql('$2', '$3')}
order by due_at, id limit $4`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after?.dueAtUs, after?.deliveryId, limit],
});

/** Lists failed and rejected callbacks and events of all accounts, the latest end first. */
export const listFailedDeliveries = many<
  Delivery & { readonly atUs: number },
  [page: { after?: TimedCursor | undefined; limit: number }]
>({
  name: 'list-failed-deliveries',
  text: `
select ${deliveryColumns}, ${microsecondsSql('finished_at')} as "atUs" from callback_deliveries
where state in ('failed', 'rejected') and (finished_at, id) < ${pageStartRowSql('$1', '$2', 'infinity')}
order by finished_at desc, id desc limit $3`,
  values: ({ after, limit }) => [after?.atUs, after?.id, limit],
});

/** The maximum of stored attempts per delivery, because a client may request any number of redeliveries. */
export const maxStoredAttempts = 100;

const attemptsOf = many<
  DeliveryAttempt & { readonly deliveryId: string },
  [deliveryIds: readonly string[], limit: number]
>({
  name: 'list-delivery-attempts',
  text: `
select latest.delivery_id as "deliveryId", attempt, started_at as "startedAt", duration_ms as "durationMs", status, error,
  response_head as "responseHead"
from unnest($1::uuid[]) delivery cross join lateral (
  select * from callback_attempts where delivery_id = delivery order by attempt desc limit $2) latest
order by attempt desc`,
});

/** Lists the latest attempts, newest first. */
export async function listDeliveryAttempts(
  db: Pick<Database, 'run'>,
  deliveryId: string,
): Promise<readonly DeliveryAttempt[]> {
  const attempts = await attemptsOf(db, [deliveryId], maxStoredAttempts);
  return attempts.map(({ deliveryId: _delivery, ...attempt }) => attempt);
}

/** The maximum of `integer`, the type of the numbers of attempts in the database. */
export const maxAttemptNumber = 2_147_483_647;

/** Finds an attempt of a delivery, the latest one by default, with what was sent and received. */
export const findDeliveryAttempt = maybeOne<RecordedAttempt, [deliveryId: string, attempt: number | undefined]>({
  name: 'find-delivery-attempt',
  text: `
select attempt, started_at as "startedAt", duration_ms as "durationMs", status, error, response_head as "responseHead", exchange
from callback_attempts where delivery_id = $1 and ($2::integer is null or attempt = $2)
order by attempt desc limit 1`,
});

export const maxListedAttempts = 10;

/** Adds to each delivery its latest attempts. */
export async function withAttempts<Row extends Delivery>(db: Pick<Database, 'run'>, deliveries: readonly Row[]) {
  const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId);
  const attempts = await attemptsOf(db, deliveryIds, maxListedAttempts);
  return deliveries.map((delivery) => {
    return { ...delivery, attempts: attempts.filter(({ deliveryId }) => deliveryId === delivery.deliveryId) };
  });
}

export type NewDeliveryAttempt = {
  readonly delivery: Pick<Delivery, 'deliveryId' | 'redeliveries'>;
  readonly attempt: Omit<RecordedAttempt, 'attempt'>;
  /** The delivery's new state, and for a pending one the latest start of the next attempt. */
  readonly newState: Pick<Delivery, 'state' | 'dueAt'>;
};

const insertAttempt = noRows<[made: NewDeliveryAttempt]>({
  name: 'record-delivery-attempt',
  text: `
with made as materialized (
  select 1 + coalesce(max(attempt), 0) as attempt from callback_attempts where delivery_id = $1
), logged as (
  insert into callback_attempts (delivery_id, attempt, started_at, duration_ms, status, error, response_head, exchange)
  select $1, attempt, to_timestamp($3::float8 / 1000), $4, $5, $6, $7, $10 from made
), trimmed as (
  delete from callback_attempts using made
  where delivery_id = $1 and callback_attempts.attempt <= made.attempt - ${maxStoredAttempts}
)
update callback_deliveries set state = $8, due_at = to_timestamp($9::float8 / 1000),
  finished_at = case when $8 = 'pending' then null else now() end
where id = $1 and redeliveries = $2 and state = 'pending'`,
  values: ({ delivery: { deliveryId, redeliveries }, attempt, newState }) => {
    const { startedAt, durationMs, status, error, responseHead, exchange } = attempt;
    const { state, dueAt } = newState;
    return [deliveryId, redeliveries, startedAt, durationMs, status, error, responseHead, state, dueAt, exchange];
  },
});

/**
 * Adds an attempt to the delivery's log and updates the delivery. If a redelivery was requested in the meantime, the attempt is logged
 * and the delivery stays pending.
 */
export async function recordDeliveryAttempt(db: Database, made: NewDeliveryAttempt): Promise<void> {
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
/** The `webhook-id` is the same for all attempts and redeliveries, so that receivers can drop duplicates. */
export function webhookId(deliveryId: string): string {
  return `msg_${deliveryId.replaceAll('-', '')}`;
}
