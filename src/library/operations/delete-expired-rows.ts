import type { Database } from '../../platform/database/database.ts';
import { allowAppendOnlyChanges } from '../../accounts/people/erasure.ts';
import { one, type StatementRunner } from '../../platform/database/declare-statements.ts';

// Each function deletes a page of the records from before a time (Unix milliseconds).

type Expired = {
  readonly table: string;
  readonly time: string;
  readonly key?: string;
  /** SQL that the records must fulfill. */
  readonly only?: string;
};

type DeletePage = (db: StatementRunner, before: number, limit: number) => Promise<{ readonly deleted: number }>;

const countOf = (deletePage: DeletePage) => async (db: StatementRunner, before: number, limit: number) =>
  (await deletePage(db, before, limit)).deleted;

function expired(records: string, { table, time, key = 'id', only = 'true' }: Expired) {
  return countOf(
    one({
      name: `delete-expired-${records}`,
      text: `
with deleted as (
  delete from ${table} where ${key} = any(array(
    select ${key} from ${table} where ${time} < to_timestamp($1::float8 / 1000) and ${only}
    order by ${time} limit $2 for update skip locked))
  returning 1
)
select count(*)::int as deleted from deleted`,
    }),
  );
}

export const deleteExpiredLinks = expired('links', { table: 'one_time_links', time: 'expires_at' });
export const deleteExpiredSessions = expired('sessions', { table: 'sessions', time: 'expires_at' });
export const deleteExpiredProofs = expired('proofs', { table: 'pending_proofs', time: 'expires_at', key: 'hash' });
export const deleteExpiredSignInTries = expired('sign-in-tries', { table: 'sign_in_tries', time: 'created_at' });
export const deleteExpiredShareLinks = expired('share-links', { table: 'share_links', time: 'expires_at' });
export const deleteExpiredRequests = expired('requests', { table: 'api_requests', time: 'ended_at' });
export const deleteExpiredCreateAttempts = expired('create-attempts', {
  table: 'create_attempts',
  time: 'created_at',
  key: 'attempt_id',
});

/** Events about no task that were delivered or failed. Those about a task are deleted with its content. */
export const deleteExpiredEventsWithoutTask = expired('account-events', {
  table: 'callback_deliveries',
  time: 'finished_at',
  only: 'task_id is null',
});

const deleteSecurityEvents = expired('security-events', { table: 'security_events', time: 'created_at' });

export function deleteExpiredSecurityEvents(db: Database, before: number, limit: number): Promise<number> {
  return db.transaction(async (run) => {
    await allowAppendOnlyChanges({ run });
    return deleteSecurityEvents({ run }, before, limit);
  });
}

/** Attempts at the deliveries of tasks. Those of other events are deleted with the event. */
export const deleteExpiredCallbackAttempts = countOf(
  one({
    name: 'delete-expired-callback-attempts',
    text: `
with deleted as (
  delete from callback_attempts where (delivery_id, attempt) in (
    select delivery_id, attempt from callback_attempts
    where delivery_id < $1 and started_at < to_timestamp($2::float8 / 1000)
    order by delivery_id, attempt limit $3 for update skip locked)
  returning 1
)
select count(*)::int as deleted from deleted`,
    values: (before: number, limit: number) => [firstIdAt(before), before, limit],
  }),
);

/** The ids of deliveries about tasks begin with the time of the task, so the oldest come first in the primary key. */
function firstIdAt(unixMs: number): string {
  const hex = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}
