import { lockOpenAccount } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';
import { type Delivery, deliveryColumns, pendingAgainSql } from './deliveries.ts';
import type { EventType } from './account-event-types-and-body.ts';

export type EventEndpoint = {
  readonly url: string;
  readonly types: readonly EventType[];
};

export const findEventEndpoint = maybeOne<EventEndpoint, [accountId: string]>({
  name: 'find-event-endpoint',
  text: 'select url, types from event_endpoints where account_id = $1',
});

// Pending events go to the new address, because the old one may be the reason why they are pending. `state <> 'delivered'` lets PostgreSQL
// use the partial index of undelivered events.
const upsertEndpoint = noRows<[accountId: string, endpoint: EventEndpoint]>({
  name: 'set-event-endpoint',
  text: `
with endpoint as (
  insert into event_endpoints (account_id, url, types) values ($1, $2, $3)
  on conflict (account_id) do update set url = excluded.url, types = excluded.types
)
update callback_deliveries set url = $2
where account_id = $1 and event is not null and state <> 'delivered' and state = 'pending' and url <> $2`,
  values: (accountId, { url, types }) => [accountId, url, types],
});

/** Replaces the account's event endpoint. Throws `AccountClosedError`. */
export function setEventEndpoint(db: Database, accountId: string, endpoint: EventEndpoint): Promise<void> {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, accountId);
    await upsertEndpoint({ run }, accountId, endpoint);
  });
}

const deleteEndpoint = one<{ readonly wasRemoved: boolean }, [accountId: string]>({
  name: 'remove-event-endpoint',
  text: `
with endpoint as (
  delete from event_endpoints where account_id = $1 returning account_id
), abandoned as (
  update callback_deliveries set state = 'failed', finished_at = now(), due_at = now()
  where account_id = $1 and event is not null and state <> 'delivered' and state = 'pending'
)
select exists (select from endpoint) as "wasRemoved"`,
});

/** Removes the account's event endpoint, and fails its pending events. Returns false for an account without an endpoint. */
export function removeEventEndpoint(db: Database, accountId: string): Promise<boolean> {
  return db.transaction(async (run) => {
    await lockOpenAccount({ run }, accountId);
    return (await deleteEndpoint({ run }, accountId)).wasRemoved;
  });
}

/** Makes an event pending again, in any state, for the account's present endpoint. Returns undefined without the event or an endpoint. */
export const requestEventRedelivery = maybeOne<Delivery, [accountId: string, eventId: string]>({
  name: 'request-event-redelivery',
  text: `
update callback_deliveries set ${pendingAgainSql}, url = endpoint.url from event_endpoints endpoint
where callback_deliveries.id = $2 and callback_deliveries.account_id = $1 and event is not null and endpoint.account_id = $1
returning ${deliveryColumns}`,
});
