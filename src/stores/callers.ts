import type { Caller } from '../domain/api-key.ts';
import type { Task } from '../domain/task.ts';
import { createBatcher } from './batch.ts';
import { type Database, readRows } from './database.ts';
import { hashApiKey, looksLikeApiKey } from './key-format.ts';
import { many, none } from './statement.ts';
import { taskColumns } from './tasks.ts';

/** The key with this hash and whose it is, if it is valid now. */
const caller = `
select api_keys.id as "keyId", account_id as "callerId", scopes, suspended_at is not null as suspended, dialect,
  last_used_at is null or last_used_at < now() - interval '1 minute' as "useIsStale"
from api_keys join accounts on accounts.id = account_id
where hash = asked.hash and revoked_at is null and (expires_at is null or expires_at > now())`;

// `offset 0` keeps each look-up a look-up by key, independent of the planner's estimates of the tables' sizes. The inner selects hide the
// arrays' lengths from it: it would make a plan of its own for every short one, at five times the look-ups' cost.
const selectCallers = {
  name: 'find-callers-with-tasks',
  text: `
select asked.place, caller.*, task.*
from unnest((select $1::bytea[]), (select $2::uuid[])) with ordinality asked (hash, task_id, place)
cross join lateral (${caller} offset 0) caller
left join lateral (select ${taskColumns} from tasks where id = asked.task_id and account_id = "callerId" offset 0) task on true`,
};

/**
 * A burst of polls, such as 300 that open within a second, would otherwise take every connection, one statement each, and all other
 * requests would wait behind them.
 */
const burst = { maxBatchSize: 100, maxStatements: 4 };

/** A caller, and whether the use of its key was recorded more than a minute ago. */
export type FoundCaller = Caller & { readonly by: { readonly kind: 'key' } } & { readonly useIsStale: boolean };

/** The SHA-256 of a key, and the id of a task, a UUID, or undefined when no task is asked for. */
type Question = { readonly hash: Buffer; readonly taskId: string | undefined };

export type CallerWithTask = { readonly caller: FoundCaller; readonly task: Task | undefined };

/**
 * Finds the account of a key, and the task with this id, a UUID, if it is the caller's own: undefined for a key that is malformed,
 * unknown, revoked or expired, without saying which. One statement answers all calls that come at the same time, for clients poll.
 */
export function createCallerFinder(
  db: Database,
): (key: string, taskId?: string) => Promise<CallerWithTask | undefined> {
  const find = createBatcher((questions: readonly Question[]) => findCallers(db, questions), burst);
  return async (key, taskId) => (looksLikeApiKey(key) ? find({ hash: hashApiKey(key), taskId }) : undefined);
}

const findTasks = many<Task, [taskIds: readonly string[]]>({
  name: 'find-tasks',
  text: `select ${taskColumns} from tasks where id = any($1::uuid[])`,
});

/** Finds tasks by their ids, of any account; polls that are released together share statements. */
export function createTaskFinder(db: Database): (taskId: string) => Promise<Task | undefined> {
  const find = async (taskIds: readonly string[]) => {
    const found = new Map((await findTasks(db, taskIds)).map((task) => [task.taskId, task]));
    return taskIds.map((taskId) => found.get(taskId));
  };
  return createBatcher(find, burst);
}

async function findCallers(
  db: Database,
  questions: readonly Question[],
): Promise<readonly (CallerWithTask | undefined)[]> {
  type Row = { place: number; callerId: string; keyId: string } & Omit<FoundCaller, 'accountId' | 'by'> &
    (Task | { taskId: undefined });
  const values = [questions.map(({ hash }) => hash), questions.map(({ taskId }) => taskId)];
  const found: (CallerWithTask | undefined)[] = Array.from({ length: questions.length });
  for (const row of await readRows<Row>(db, selectCallers, values)) {
    const { place, callerId: accountId, keyId, scopes, suspended, dialect, useIsStale, ...task } = row;
    found[place - 1] = {
      caller: { by: { kind: 'key', keyId }, accountId, scopes, suspended, dialect, useIsStale },
      task: task.taskId === undefined ? undefined : task,
    };
  }
  return found;
}

/** Touches these keys (last used now), at most once a minute each; the caller bounds how many they are. */
export const touchKeys = none<[keyIds: readonly string[]]>({
  name: 'touch-keys',
  text: `
update api_keys set last_used_at = now()
where id = any($1::uuid[]) and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
});
