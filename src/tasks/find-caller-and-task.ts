import type { Caller } from '../accounts/keys/scopes-dialects-and-caller.ts';
import type { Task } from '../catalogue/tasks/task.ts';
import { createBatcher } from '../platform/database/batch-requests.ts';
import { type Database, readRows } from '../platform/database/database.ts';
import { hashApiKey, isWellFormedKey } from '../accounts/keys/key-format.ts';
import { taskColumns } from './task-rows.ts';

const caller = `
select api_keys.id as "keyId", account_id as "callerId", scopes, suspended_at is not null as suspended, dialect, models,
  merge_repeats as "mergeRepeats",
  last_used_at is null or last_used_at < now() - interval '1 minute' as "useIsStale"
from api_keys join accounts on accounts.id = account_id
where hash = request.hash and revoked_at is null and (expires_at is null or expires_at > now())`;

// `offset 0` forces a look-up by key for each request, for any estimates of the planner. The inner selects hide the lengths of the arrays
// from the planner, which would otherwise make a plan for each short one, at five times the cost of the look-ups.
const selectCallers = {
  name: 'find-callers-with-tasks',
  text: `
select position, caller.*, task.*
from unnest((select $1::bytea[]), (select $2::uuid[])) with ordinality request (hash, task_id, position)
cross join lateral (${caller} offset 0) caller
left join lateral (select ${taskColumns} from tasks where id = request.task_id and account_id = "callerId" offset 0) task on true`,
};

/** Bounds the connections that a burst of polls takes, so that other requests do not wait behind it. */
const burst = { maxBatchSize: 100, maxStatements: 4 };

/** `useIsStale`: the last use of the key was recorded more than a minute ago. */
export type FoundCaller = Caller & { readonly by: { readonly kind: 'key' } } & { readonly useIsStale: boolean };

/** The SHA-256 of a key, and optionally the UUID of a task. */
type Request = { readonly hash: Buffer; readonly taskId: string | undefined };

type CallerWithTask = { readonly caller: FoundCaller; readonly task: Task | undefined };

/**
 * Finds the account of a key, and the task if it belongs to that account. `taskId` must be a UUID. Returns undefined for a malformed,
 * unknown, revoked or expired key. Concurrent calls share a statement, because clients poll.
 */
export function createCallerAndTaskFinder(
  db: Database,
): (key: string, taskId?: string) => Promise<CallerWithTask | undefined> {
  const find = createBatcher((requests: readonly Request[]) => findCallers(db, requests), burst);
  return async (key, taskId) => (isWellFormedKey(key) ? find({ hash: hashApiKey(key), taskId }) : undefined);
}

async function findCallers(
  db: Database,
  requests: readonly Request[],
): Promise<readonly (CallerWithTask | undefined)[]> {
  type Row = { position: number; callerId: string; keyId: string } & Omit<FoundCaller, 'accountId' | 'by'> &
    (Task | { taskId: undefined });
  const values = [requests.map(({ hash }) => hash), requests.map(({ taskId }) => taskId)];
  const found: (CallerWithTask | undefined)[] = Array.from({ length: requests.length });
  for (const row of await readRows<Row>(db, selectCallers, values)) {
    const { position, callerId, keyId, scopes, suspended, dialect, models, mergeRepeats, useIsStale, ...task } = row;
    const by = { kind: 'key', keyId } as const;
    found[position - 1] = {
      caller: { by, accountId: callerId, scopes, suspended, dialect, models, mergeRepeats, useIsStale },
      task: task.taskId === undefined ? undefined : task,
    };
  }
  return found;
}
