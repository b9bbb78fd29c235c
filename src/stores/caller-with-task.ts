import DataLoader from 'dataloader';
import type { Caller, Scope } from '../domain/api-key.ts';
import type { Dialect } from '../domain/dialect.ts';
import type { Task } from '../domain/task.ts';
import { hashApiKey, looksLikeApiKey } from './api-key-format.ts';
import type { Database } from './database.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';

/** The key with this hash and whose it is, if it is good today. */
const caller = `
select api_keys.id as key_id, account_id as caller_id, scopes, suspended_at is not null as suspended, dialect,
  last_used_at is null or last_used_at < now() - interval '1 minute' as use_is_stale
from api_keys join accounts on accounts.id = account_id
where hash = asked.hash and revoked_at is null and (expires_at is null or expires_at > now())`;

// `offset 0` keeps each look-up a look-up by key, whatever the planner thinks of the tables' sizes. The inner selects hide the
// arrays' lengths from it: it would take the trouble of a plan of its own for every short one, five times the look-ups' cost.
const selectCallers = {
  name: 'find-callers-with-tasks',
  text: `
select asked.place, caller.*, task.*
from unnest((select $1::bytea[]), (select $2::uuid[])) with ordinality asked (hash, task_id, place)
cross join lateral (${caller} offset 0) caller
left join lateral (select ${taskColumns} from tasks where id = asked.task_id and account_id = caller_id offset 0) task on true`,
};

type CallerRow = {
  key_id: string;
  caller_id: string;
  scopes: Scope[];
  suspended: boolean;
  dialect: Dialect;
  use_is_stale: boolean;
};

/** A caller, and whether the use of its key was last written down more than a minute ago. */
export type FoundCaller = Caller & { readonly useIsStale: boolean };

/** The SHA-256 of a key, and the id of a task, a UUID, or undefined when no task is asked for. */
type Question = { readonly hash: Buffer; readonly taskId: string | undefined };

/** In one statement at most; whoever comes beyond is asked for with the next statement, at the same time. */
const maxTogether = 100;

export type CallerWithTask = { readonly caller: FoundCaller; readonly task: Task | undefined };

/**
 * Tells whose key this is, and the task with this id if it is the caller's own: undefined for a key that is malformed, unknown,
 * revoked or expired, without telling which. One statement answers all who ask at the same time, for clients poll.
 * `taskId` must be a UUID, or undefined for no task.
 */
export function createCallerFinder(
  db: Database,
): (key: string, taskId?: string) => Promise<CallerWithTask | undefined> {
  const callers = new DataLoader((questions: readonly Question[]) => findCallers(db, questions), {
    // A revoked key counts from the next request.
    cache: false,
    maxBatchSize: maxTogether,
    // All that arrive in one turn of the event loop; nobody waits any longer than that.
    batchScheduleFn: (ask) => void setImmediate(ask),
  });
  return async (key, taskId) => (looksLikeApiKey(key) ? callers.load({ hash: hashApiKey(key), taskId }) : undefined);
}

async function findCallers(
  db: Database,
  questions: readonly Question[],
): Promise<readonly (CallerWithTask | undefined)[]> {
  type Row = { place: number } & CallerRow & (TaskRow | { id: null });
  const values = [questions.map(({ hash }) => hash), questions.map(({ taskId }) => taskId)];
  const found: (CallerWithTask | undefined)[] = Array.from({ length: questions.length });
  for (const row of await db.run<Row>(selectCallers, values)) {
    found[row.place - 1] = { caller: callerFromRow(row), task: row.id === null ? undefined : taskFromRow(row) };
  }
  return found;
}

function callerFromRow(row: CallerRow): FoundCaller {
  const { key_id: keyId, caller_id: accountId, scopes, suspended, dialect, use_is_stale: useIsStale } = row;
  return { keyId, accountId, scopes, suspended, dialect, useIsStale };
}
