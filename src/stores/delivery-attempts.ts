import type { Dialect } from '../domain/api-key.ts';
import type { Task } from '../domain/task.ts';
import type { SealedSecret } from './callback-secrets.ts';
import { type Database, DatabaseAway } from './database.ts';
import { type Delivery, type DeliveryAttempt, type DeliveryState, maxAttempts } from './deliveries.ts';
import { gather } from './gather.ts';
import { taskColumns, taskFromRow, type TaskRow } from './tasks.ts';

/** All that one attempt at a callback needs: where it goes, what it says, and what signs it now. */
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
 * One statement answers all calls that come at the same time. `taskId` must be a UUID.
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

// Each attempt is numbered after the last one of its own delivery; what the delivery comes to is its own as well.
const insertAttempts = {
  name: 'record-delivery-attempts',
  text: `
with made as materialized (
  select made.*, 1 + coalesce((select max(attempt) from callback_attempts where task_id = made.task_id), 0) as attempt
  from unnest((select $1::uuid[]), (select $2::float8[]), (select $3::int[]), (select $4::int[]), (select $5::text[]),
    (select $6::bytea[]), (select $7::int[]), (select $8::text[]), (select $9::float8[]))
    made (task_id, started_at, duration_ms, status, error, response_head, round, state, due_at)
), noted as (
  insert into callback_attempts (task_id, attempt, started_at, duration_ms, status, error, response_head)
  select task_id, attempt, to_timestamp(started_at / 1000), duration_ms, status, error, response_head from made
), trimmed as (
  delete from callback_attempts using made
  where made.attempt > ${maxAttempts} and callback_attempts.task_id = made.task_id
    and callback_attempts.attempt <= made.attempt - ${maxAttempts}
)
update callback_deliveries set
  state = made.state,
  finished_at = case when made.state = 'pending' then null else now() end,
  due_at = to_timestamp(made.due_at / 1000)
from made
where callback_deliveries.task_id = made.task_id and callback_deliveries.round = made.round
  and callback_deliveries.state = 'pending'`,
};

/** What an attempt means for its delivery: how it ended, or by when (Unix milliseconds) it is tried again. */
export type AttemptVerdict = { readonly state: DeliveryState; readonly dueAt: number };

/** An attempt at a delivery that stood in this round, and what came of it. */
export type MadeAttempt = {
  readonly delivery: Pick<Delivery, 'taskId' | 'round'>;
  readonly attempt: Omit<DeliveryAttempt, 'attempt'>;
  readonly verdict: AttemptVerdict;
};

/**
 * Adds attempts to the logs of their deliveries, each numbered after the last one, and moves the deliveries on, all in one
 * statement. When a redelivery was asked for meanwhile, the attempt is logged and the delivery stays owed. No two of them may
 * be of the same task.
 */
export async function recordDeliveryAttempts(db: Database, made: readonly MadeAttempt[]): Promise<void> {
  await db.run(insertAttempts, [
    made.map(({ delivery }) => delivery.taskId),
    made.map(({ attempt }) => attempt.startedAt),
    made.map(({ attempt }) => attempt.durationMs),
    made.map(({ attempt }) => attempt.status),
    made.map(({ attempt }) => attempt.error),
    made.map(({ attempt }) => attempt.responseHead),
    made.map(({ delivery }) => delivery.round),
    made.map(({ verdict }) => verdict.state),
    made.map(({ verdict }) => verdict.dueAt),
  ]);
}

/** A commit waits for the disk, and the attempts that come meanwhile share the next one. */
const recordLimits = { maxTogether: 100, maxStatements: 2 };

/**
 * Records attempts at callbacks (see `recordDeliveryAttempts`), those that end at the same time in one statement. Each has its
 * own outcome: a statement that one of them breaks is repeated for each alone, for a callback that is not recorded is sent again.
 */
export function createAttemptRecorder(db: Database): (made: MadeAttempt) => Promise<void> {
  return gather((made: readonly MadeAttempt[]) => recordAll(db, made), recordLimits);
}

async function recordAll(db: Database, made: readonly MadeAttempt[]): Promise<readonly (undefined | Error)[]> {
  const outcomes: (undefined | Error)[] = Array.from({ length: made.length });
  for (const places of withoutRepeats(made)) {
    const outcome = await outcomesOf(
      db,
      places.flatMap((place) => made[place] ?? []),
    );
    places.forEach((place, index) => (outcomes[place] = outcome[index]));
  }
  return outcomes;
}

/**
 * Places of attempts in groups of which none has a task twice: nearly always one group. Two attempts of one task are rare, as
 * when a worker was taken for dead, but each must find the number of the one before it.
 */
function withoutRepeats(made: readonly MadeAttempt[]): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const seen = new Map<string, number>();
  for (const [place, { delivery }] of made.entries()) {
    const turn = seen.get(delivery.taskId) ?? 0;
    seen.set(delivery.taskId, turn + 1);
    (groups[turn] ??= []).push(place);
  }
  return groups;
}

async function outcomesOf(db: Database, made: readonly MadeAttempt[]): Promise<readonly (undefined | Error)[]> {
  try {
    await recordDeliveryAttempts(db, made);
    return made.map(() => undefined);
  } catch (error) {
    if (made.length === 1 || error instanceof DatabaseAway) return made.map(() => asError(error));
    const outcomes: (undefined | Error)[] = [];
    for (const one of made) outcomes.push(...(await outcomesOf(db, [one])));
    return outcomes;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the attempt was not recorded', { cause: error });
}
