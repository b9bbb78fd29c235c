import type { Dialect } from '../domain/dialect.ts';
import type { Task } from '../domain/task.ts';
import type { SealedSecret } from './callback-secrets.ts';
import type { Database } from './database.ts';
import type { Delivery } from './deliveries.ts';
import { gather } from './gather.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';

/** All that one attempt at a callback needs to know: where it goes, what it tells, and what signs it today. */
export type CallbackToSend = {
  readonly delivery: Pick<Delivery, 'taskId' | 'accountId' | 'url' | 'dialect' | 'state' | 'round'>;
  readonly task: Task;
  /** As `listCallbackSecrets` answers them; empty for an account that has none yet. */
  readonly secrets: readonly SealedSecret[];
};

const activeSecrets = `
select sealed, expires_at, id from callback_secrets
where account_id = task.account_id and (expires_at is null or expires_at > now()) order by id desc limit 10`;

// As in `find-callers-with-tasks`: `offset 0` keeps each look-up a look-up by key, and the inner select hides the array's length.
const selectCallbacks = {
  name: 'find-callbacks-to-send',
  text: `
select asked.place, task.*, delivery.*, secrets.sealed
from unnest((select $1::uuid[])) with ordinality asked (task_id, place)
cross join lateral (
  select url, state as delivery_state, round from callback_deliveries where task_id = asked.task_id offset 0) delivery
cross join lateral (select ${taskColumns}, dialect from tasks where id = asked.task_id offset 0) task
cross join lateral (
  select json_agg(json_build_object('sealed', sealed, 'endsAt', floor(extract(epoch from expires_at) * 1000)) order by id desc) as sealed
  from (${activeSecrets}) active) secrets`,
};

type Row = TaskRow & {
  place: number;
  url: string;
  dialect: Dialect;
  delivery_state: Delivery['state'];
  round: number;
  sealed: readonly { readonly sealed: string; readonly endsAt: number | null }[] | null;
};

/** An attempt needs its own in milliseconds; with more statements at a time each would take fewer along. */
const limits = { maxTogether: 100, maxStatements: 2 };

/**
 * Answers what an attempt at a task's callback needs as it stands now, or undefined while the task runs or when it has none.
 * One statement answers all who ask at the same time. `taskId` must be a UUID.
 */
export function createCallbackFinder(db: Database): (taskId: string) => Promise<CallbackToSend | undefined> {
  return gather((taskIds: readonly string[]) => findCallbacks(db, taskIds), limits);
}

async function findCallbacks(
  db: Database,
  taskIds: readonly string[],
): Promise<readonly (CallbackToSend | undefined)[]> {
  const found: (CallbackToSend | undefined)[] = Array.from({ length: taskIds.length });
  for (const row of await db.run<Row>(selectCallbacks, [taskIds])) found[row.place - 1] = callbackFromRow(row);
  return found;
}

function callbackFromRow(row: Row): CallbackToSend {
  const { id: taskId, account_id: accountId, url, dialect, delivery_state: state, round } = row;
  return {
    delivery: { taskId, accountId, url, dialect, state, round },
    task: taskFromRow(row),
    secrets: (row.sealed ?? []).map(({ sealed, endsAt }) => ({ sealed, expiresAt: endsAt ?? undefined })),
  };
}
