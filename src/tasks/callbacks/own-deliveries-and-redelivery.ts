import { callbackTimeoutMs } from './callback-schedule.ts';
import { type Delivery, type DeliveryState, deliveryColumns, pendingAgainSql } from './deliveries.ts';
import type { EventType } from './account-event-types-and-body.ts';
import { many } from '../../platform/database/declare-statements.ts';
import {
  microsecondsSql,
  pageStartRowSql,
  type TimedCursor,
} from '../../platform/database/sql-fragments-and-parameters.ts';

// Callbacks and events as their account receives them. A client must not learn how long an unreachable address took to fail, so a failed
// delivery is shown as pending until its last attempt without a response could have timed out.

export type OwnDeliveryFilter = {
  readonly accountId: string;
  readonly state?: DeliveryState | undefined;
  /** The last delivery of the page before; the deletion of its task's content may have deleted it since. */
  readonly after?: TimedCursor | undefined;
  readonly limit: number;
  /** Unix milliseconds. */
  readonly nowMs: number;
};

type ListedDelivery = Delivery & { readonly atUs: number };

const isCallback = 'event is null';
const isEvent = 'event is not null';

const isHidden = (
  now: string,
) => `(state = 'failed' and finished_at > to_timestamp(${now} / 1000) - interval '1 minute' and exists (
    select from callback_attempts
    where delivery_id = callback_deliveries.id and status is null
      and started_at > to_timestamp((${now} - ${callbackTimeoutMs}) / 1000)))`;

/**
 * Lists by the time of the event, the latest first. A redelivery does not change the order. The conditions on `delivered` repeat those of
 * the partial indexes.
 */
const listing = (name: string, which: string) => ({
  name,
  plannedAnew: true,
  text: `
select ${deliveryColumns}, ${microsecondsSql('created_at')} as "atUs" from callback_deliveries
where account_id = $1 and ${which} and ($2::text is null or case $2
    when 'pending' then state <> 'delivered' and (state = 'pending' or ${isHidden('$5::float8')})
    when 'failed' then state = 'failed' and not ${isHidden('$5::float8')}
    else state = $2 end)
  and ($2 is null or $2 = 'delivered' or state <> 'delivered')
  and (created_at, id) < ${pageStartRowSql('$3', '$6', 'infinity')}
order by created_at desc, id desc limit $4`,
});

const listingValues = ({ accountId, state, after, limit, nowMs }: OwnDeliveryFilter) =>
  [accountId, state, after?.atUs, limit, nowMs, after?.id] as const;

export const listOwnCallbacks = many<ListedDelivery, [filter: OwnDeliveryFilter]>({
  ...listing('list-own-deliveries', isCallback),
  values: listingValues,
});

export type ListedEvent = ListedDelivery & { readonly event: EventType };

/** Lists the account's events, all or those of a type. */
export const listOwnEvents = many<ListedEvent, [filter: OwnDeliveryFilter & { readonly type?: EventType | undefined }]>(
  {
    ...listing('list-own-events', `${isEvent} and ($7::text is null or event = $7)`),
    values: ({ type, ...filter }) => [...listingValues(filter), type],
  },
);

/** Limit per request. */
export const maxRedelivered = 1_000;

type Failed = { readonly accountId: string; readonly sinceMs: number; readonly nowMs: number };

const redelivery = (name: string, which: string, { set = '', endpoint = '' } = {}) =>
  many<{ readonly deliveryId: string }, [failed: Failed]>({
    name,
    plannedAnew: true,
    text: `
with failed as (
  select id from callback_deliveries
  where account_id = $1 and ${which} and state <> 'delivered' and state = 'failed' and created_at >= to_timestamp($2::float8 / 1000)
    and not ${isHidden('$3::float8')}
  order by created_at, id limit ${maxRedelivered} for update
)
update callback_deliveries set ${pendingAgainSql}${set}
from failed${endpoint} where callback_deliveries.id = failed.id returning callback_deliveries.id as "deliveryId"`,
    values: ({ accountId, sinceMs, nowMs }) => [accountId, sinceMs, nowMs],
  });

/** Makes failed callbacks of tasks that ended at or after `sinceMs` pending again, the oldest first. */
export const makeFailedCallbacksPending = redelivery('redeliver-failed', isCallback);

/** Makes failed events of `sinceMs` or later pending again, the oldest first, for the account's present endpoint. Without one, none. */
export const makeFailedEventsPending = redelivery('redeliver-failed-events', isEvent, {
  set: ', url = endpoint.url',
  endpoint: ' join event_endpoints endpoint on endpoint.account_id = $1',
});
