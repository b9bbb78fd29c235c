import { callbackTimeoutMs } from './callback.ts';
import { type Delivery, type DeliveryState, deliveryColumns } from './deliveries.ts';
import { many } from '../platform/database/statement.ts';

// Callbacks for their account. A client must not learn how long an unreachable address took to fail, so a failed delivery is shown as
// pending until its last attempt without a response could have timed out.

export type OwnDeliveryFilter = {
  readonly accountId: string;
  readonly state?: DeliveryState | undefined;
  /** The UUID of the last task of the page before. A task of another account leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
  /** Unix milliseconds. */
  readonly nowMs: number;
};

const isHidden = (
  now: string,
) => `(state = 'failed' and finished_at > to_timestamp(${now} / 1000) - interval '1 minute' and exists (
    select from callback_attempts
    where task_id = callback_deliveries.task_id and status is null
      and started_at > to_timestamp((${now} - ${callbackTimeoutMs}) / 1000)))`;

/** Lists the account's callbacks by the end of their tasks, the latest first. A redelivery does not change the order. */
export const listOwnDeliveries = many<Delivery, [filter: OwnDeliveryFilter]>({
  name: 'list-own-deliveries',
  plannedAnew: true,
  text: `
select ${deliveryColumns} from callback_deliveries
where account_id = $1 and ($2::text is null or case $2
    when 'pending' then state <> 'delivered' and (state = 'pending' or ${isHidden('$5::float8')})
    when 'failed' then state = 'failed' and not ${isHidden('$5::float8')}
    else state = $2 end)
  and ($2 is null or $2 = 'delivered' or state <> 'delivered')
  and ($3::uuid is null or (created_at, task_id) <
    (select created_at, task_id from callback_deliveries where task_id = $3 and account_id = $1))
order by created_at desc, task_id desc limit $4`,
  values: ({ accountId, state, after, limit, nowMs }) => [accountId, state, after, limit, nowMs],
});

/** Limit per request. */
export const maxRedelivered = 1_000;

type Failed = { readonly accountId: string; readonly sinceMs: number; readonly nowMs: number };

/** Makes failed callbacks of tasks that ended at or after `sinceMs` pending again, the oldest first. */
export const redeliverFailed = many<{ readonly taskId: string }, [failed: Failed]>({
  name: 'redeliver-failed',
  plannedAnew: true,
  text: `
with failed as (
  select task_id from callback_deliveries
  where account_id = $1 and state <> 'delivered' and state = 'failed' and created_at >= to_timestamp($2::float8 / 1000)
    and not ${isHidden('$3::float8')}
  order by created_at, task_id limit ${maxRedelivered} for update
)
update callback_deliveries set state = 'pending', redeliveries = redeliveries + 1, finished_at = null, due_at = now()
from failed where callback_deliveries.task_id = failed.task_id returning callback_deliveries.task_id as "taskId"`,
  values: ({ accountId, sinceMs, nowMs }) => [accountId, sinceMs, nowMs],
});
