import type { Database } from '../../platform/database/database.ts';
import { allowAppendOnlyChanges } from '../../accounts/people/erasure.ts';
import { one, type Runner } from '../../platform/database/statement.ts';

// Each function deletes a page of the records from before a time (Unix milliseconds).

type Expired = {
  readonly name: string;
  readonly table: string;
  readonly key: string;
  readonly time: string;
  /** SQL that the records must fulfill. */
  readonly only?: string;
};

function expired({ name, table, key, time, only = 'true' }: Expired) {
  const deleteRows = one<{ readonly deleted: number }, [before: number, limit: number]>({
    name,
    text: `
with deleted as (
  delete from ${table} where ${key} = any(array(
    select ${key} from ${table} where ${time} < to_timestamp($1::float8 / 1000) and ${only}
    order by ${time} limit $2 for update skip locked))
  returning 1
)
select count(*)::int as deleted from deleted`,
  });
  return async (db: Runner, before: number, limit: number): Promise<number> =>
    (await deleteRows(db, before, limit)).deleted;
}

export const deleteExpiredLinks = expired({
  name: 'delete-expired-links',
  table: 'one_time_links',
  key: 'id',
  time: 'expires_at',
});

export const deleteExpiredSessions = expired({
  name: 'delete-expired-sessions',
  table: 'sessions',
  key: 'id',
  time: 'expires_at',
});

export const deleteExpiredProofs = expired({
  name: 'delete-expired-proofs',
  table: 'pending_proofs',
  key: 'hash',
  time: 'expires_at',
});

export const deleteExpiredSignInTries = expired({
  name: 'delete-expired-sign-in-tries',
  table: 'sign_in_tries',
  key: 'id',
  time: 'created_at',
});

export const deleteExpiredCreateAttempts = expired({
  name: 'delete-expired-create-attempts',
  table: 'create_attempts',
  key: 'attempt_id',
  time: 'created_at',
});

export const deleteExpiredShareLinks = expired({
  name: 'delete-expired-share-links',
  table: 'share_links',
  key: 'id',
  time: 'expires_at',
});

export const deleteExpiredRequests = expired({
  name: 'delete-expired-requests',
  table: 'api_requests',
  key: 'id',
  time: 'ended_at',
});

/** Events about no task that were delivered or failed. Those about a task are deleted with its content. */
export const deleteExpiredAccountEvents = expired({
  name: 'delete-expired-account-events',
  table: 'callback_deliveries',
  key: 'id',
  time: 'finished_at',
  only: 'task_id is null',
});

const deleteCallbackAttempts = one<{ readonly deleted: number }, [before: number, limit: number]>({
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
  values: (before, limit) => [firstIdAt(before), before, limit],
});

/** The ids of deliveries about tasks begin with the time of the task, so the oldest come first in the primary key. */
function firstIdAt(unixMs: number): string {
  const hex = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

/** Attempts at the deliveries of tasks. Those of other events are deleted with the event. */
export async function deleteExpiredCallbackAttempts(db: Runner, before: number, limit: number): Promise<number> {
  return (await deleteCallbackAttempts(db, before, limit)).deleted;
}

const deleteSecurityEvents = expired({
  name: 'delete-expired-security-events',
  table: 'security_events',
  key: 'id',
  time: 'created_at',
});

export function deleteExpiredSecurityEvents(db: Database, before: number, limit: number): Promise<number> {
  return db.transaction(async (run) => {
    await allowAppendOnlyChanges({ run });
    return deleteSecurityEvents({ run }, before, limit);
  });
}
