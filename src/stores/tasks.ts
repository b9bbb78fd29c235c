import type { Task } from '../domain/task.ts';
import type { Database } from './database.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';

const selectTask = { name: 'find-task', text: `select ${taskColumns} from tasks where id = $1` };

/** The task, whoever owns it, or undefined. `taskId` must be a UUID. */
export async function findTask(db: Database, taskId: string): Promise<Task | undefined> {
  const [row] = await db.run<TaskRow>(selectTask, [taskId]);
  return row === undefined ? undefined : taskFromRow(row);
}

const selectEnded = {
  name: 'list-ended-among',
  text: `select id from tasks where id = any($1::uuid[]) and state in ('success', 'fail')`,
};

/** Which of these tasks are final; the caller bounds how many it asks about. */
export async function listEndedAmong(db: Database, taskIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.run<{ id: string }>(selectEnded, [taskIds]);
  return new Set(rows.map(({ id }) => id));
}

const markQueuing = {
  name: 'mark-queuing',
  text: `
update tasks set state = 'queuing', updated_at = now() where id = $1 and state = 'waiting'
returning ${taskColumns}, deadline_ms`,
};
const selectConfirmed = {
  name: 'find-confirmed-task',
  text: `select ${taskColumns}, deadline_ms from tasks where id = $1`,
};

type WithDeadline = { deadline_ms: number | null };

export type ConfirmedTask = Task & {
  /** How long its generation may run; undefined for a task that was accepted before tasks kept it. */
  readonly deadlineMs: number | undefined;
};

/** The workflow has begun: `waiting` becomes `queuing`; any later state stays. Answers the task, or undefined when there is none. */
export async function confirmCharge(db: Database, taskId: string): Promise<ConfirmedTask | undefined> {
  const [marked] = await db.run<TaskRow & WithDeadline>(markQueuing, [taskId]);
  const [row] = marked === undefined ? await db.run<TaskRow & WithDeadline>(selectConfirmed, [taskId]) : [marked];
  return row === undefined ? undefined : { ...taskFromRow(row), deadlineMs: row.deadline_ms ?? undefined };
}

// A task's deadline limits how long its generation runs, over all attempts. Only the database's clock is asked: each attempt
// leaves its start and, every few seconds, the last moment at which it was seen alive. What lies between the end of one attempt
// and the start of the next is time in the queue and is not counted, unless a job runs upstream meanwhile.

/** How often an attempt says that it is alive. */
export const attemptTouchMs = 15_000;

/** A task at the start of an attempt at its generation. */
export type GeneratingTask = Task & {
  readonly isFirst: boolean;
  /** How long the generation may still run; nothing, or less, when its deadline has passed. */
  readonly leftMs: number;
  /** What the catalogue said when it was accepted; undefined for a task that was accepted before tasks kept it. */
  readonly providers: readonly string[] | undefined;
};

type GeneratingRow = TaskRow & { left_ms: number; providers: readonly string[] | null };
const generatingColumns = `${taskColumns}, providers, deadline_ms - generation_spent_ms as left_ms`;

const begin = {
  name: 'begin-generation',
  text: `
update tasks set state = 'generating', generation_started_at = now(), attempt_started_at = now(), attempt_seen_at = now(),
  deadline_ms = coalesce(deadline_ms, $2), updated_at = now()
where id = $1 and state in ('waiting', 'queuing') returning ${generatingColumns}`,
};

// An attempt that died may have lived for a while after it was last seen; that is counted, but never more than a quarter of the
// deadline. While a job runs upstream the whole gap counts, but for the last minute, in which the job's video can be fetched.
const spentMs = `generation_spent_ms + coalesce(extract(epoch from
  least(now(), attempt_seen_at + least(${attemptTouchMs}, coalesce(deadline_ms, $2) / 4) * interval '1 millisecond')
    - attempt_started_at) * 1000, 0)::bigint`;
const spentUpstreamMs = `least(coalesce(deadline_ms, $2) - 60000, generation_spent_ms
  + coalesce(extract(epoch from now() - attempt_started_at) * 1000, 0)::bigint)`;

const resume = {
  name: 'resume-generation',
  text: `
update tasks set attempt_started_at = now(), attempt_seen_at = now(), deadline_ms = coalesce(deadline_ms, $2),
  generation_spent_ms = greatest(${spentMs}, case when exists (
    select from provider_jobs
    where task_id = $1 and job_id is not null and outcome is null and provider <> all ($3::text[])
  ) then ${spentUpstreamMs} end)
where id = $1 and state = 'generating' returning ${generatingColumns}`,
};

const thirtyMinutesMs = 30 * 60_000;
type GenerationStart = { readonly deadlineMs?: number; readonly localProviders?: readonly string[] };

/**
 * An attempt at the generation has begun. The first one sets `generationStartedAt`; later ones settle how much of the deadline
 * the one before has used. Answers undefined when the task is final or unknown: there is nothing to generate. `deadlineMs` counts
 * for a task that keeps none; jobs of `localProviders` run in the attempt and end with it.
 */
export async function startGeneration(
  db: Database,
  taskId: string,
  { deadlineMs = thirtyMinutesMs, localProviders = [] }: GenerationStart = {},
): Promise<GeneratingTask | undefined> {
  const [begun] = await db.run<GeneratingRow>(begin, [taskId, deadlineMs]);
  const [row] =
    begun === undefined ? await db.run<GeneratingRow>(resume, [taskId, deadlineMs, localProviders]) : [begun];
  if (row === undefined) return undefined;
  const { left_ms: leftMs, providers } = row;
  return { ...taskFromRow(row), isFirst: begun !== undefined, leftMs, providers: providers ?? undefined };
}

const touch = {
  name: 'touch-generation',
  text: `update tasks set attempt_seen_at = now() where id = $1 and state = 'generating'`,
};

/** The running attempt is alive. */
export async function touchGeneration(db: Database, taskId: string): Promise<void> {
  await db.run(touch, [taskId]);
}

export type UnfinishedTask = Pick<Task, 'taskId' | 'accountId' | 'state'> & {
  readonly model: string;
  /** Milliseconds since it was accepted, by the database's clock. */
  readonly ageMs: number;
  /** How long its generation has run, over all attempts, as far as they were seen alive. */
  readonly ranMs: number;
  readonly deadlineMs: number;
  /** Whether its workflow's code could not go on when it was last looked at. */
  readonly isStuck: boolean;
};

// Null is the deadline of a task that was accepted before tasks kept it and has not begun since: the longest there is.
const selectUnfinished = {
  name: 'list-unfinished-tasks',
  text: `
select id, account_id, model, state, (extract(epoch from now() - created_at) * 1000)::bigint as age_ms,
  generation_spent_ms + (extract(epoch from
    coalesce(attempt_seen_at - attempt_started_at, now() - generation_started_at, interval '0')) * 1000)::bigint as ran_ms,
  coalesce(deadline_ms, 86400000) as deadline_ms, stuck_since is not null as is_stuck
from tasks
where state in ('waiting', 'queuing', 'generating') and created_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (created_at, id) > (select created_at, id from tasks where id = $2))
order by created_at, id limit $3`,
};

type UnfinishedRow = {
  id: string;
  account_id: string;
  model: string;
  state: Task['state'];
  age_ms: number;
  ran_ms: number;
  deadline_ms: number;
  is_stuck: boolean;
};

/** Unfinished tasks older than `minAgeMs` in order of arrival, a bounded page of them after the given one. */
export async function listUnfinishedTasks(
  db: Database,
  { minAgeMs, after, limit }: { minAgeMs: number; after?: string | undefined; limit: number },
): Promise<readonly UnfinishedTask[]> {
  const rows = await db.run<UnfinishedRow>(selectUnfinished, [minAgeMs, after, limit]);
  return rows.map((row) => ({
    taskId: row.id,
    accountId: row.account_id,
    model: row.model,
    state: row.state,
    ageMs: row.age_ms,
    ranMs: row.ran_ms,
    deadlineMs: row.deadline_ms,
    isStuck: row.is_stuck,
  }));
}
