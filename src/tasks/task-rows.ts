import type { Task } from '../catalogue/tasks/task.ts';
import type { Database } from '../platform/database/database.ts';
import { isReservedJobSql } from './jobs/provider-pools-and-switches.ts';
import { many, maybeOne, noRows } from '../platform/database/declare-statements.ts';
import { finishedTaskSql, unfinishedTaskSql } from '../catalogue/tasks/task-state-sql.ts';

export const taskColumns = `id as "taskId", account_id as "accountId", param, state, price_name as "priceName",
  credits_charged as "creditsCharged", credits_refunded as "creditsRefunded", result, created_at as "createdAt", updated_at as "updatedAt",
  generation_started_at as "generationStartedAt", completed_at as "completedAt", media_deleted_at as "mediaDeletedAt",
  content_deleted_at as "contentDeletedAt",
  case when state = 'fail' then json_build_object('failCode', fail_code, 'failMsg', fail_msg) end as failure`;

/** Finds a task of any account. `taskId` must be a UUID. */
export const findTask = maybeOne<Task, [taskId: string]>({
  name: 'find-task',
  text: `select ${taskColumns} from tasks where id = $1`,
});

const selectEnded = many<{ readonly id: string }, [taskIds: readonly string[]]>({
  name: 'list-ended-among',
  text: `select id from tasks where id = any($1::uuid[]) and ${finishedTaskSql}`,
});

/** Returns the final ones among these tasks. The caller bounds their number. */
export async function listEndedAmong(db: Database, taskIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await selectEnded(db, taskIds)).map(({ id }) => id));
}

export type TaskWithDeadline = Task & { readonly deadlineMs: number };

const markQueuing = maybeOne<TaskWithDeadline, [taskId: string]>({
  name: 'mark-queuing',
  text: `
update tasks set state = 'queuing', updated_at = now() where id = $1 and state = 'waiting'
returning ${taskColumns}, deadline_ms as "deadlineMs"`,
});
const findConfirmed = maybeOne<TaskWithDeadline, [taskId: string]>({
  name: 'find-confirmed-task',
  text: `select ${taskColumns}, deadline_ms as "deadlineMs" from tasks where id = $1`,
});

/** Records that the workflow has begun: `waiting` becomes `queuing`; any later state stays. */
export async function recordQueuing(db: Database, taskId: string): Promise<TaskWithDeadline | undefined> {
  return (await markQueuing(db, taskId)) ?? findConfirmed(db, taskId);
}

/** The interval in which a generation attempt reports that it is alive. */
export const attemptTouchMs = 15_000;

export type GeneratingTask = Task & {
  /** True if its generation began with this attempt; for a task of an upstream it begins later (`recordGenerating`). */
  readonly isFirst: boolean;
  /** The rest of the deadline; 0 or less after it has passed. */
  readonly leftMs: number;
  readonly deadlineMs: number;
};

// The deadline limits the time in which a generation runs, over all attempts, by the database's clock. An attempt that died may have lived
// for some time after its last report: one interval of reports is counted, at most a quarter of the deadline. The gap between attempts
// counts only while a job runs upstream, and leaves one minute to fetch the job's video.
const spentMs = `generation_spent_ms + coalesce(extract(epoch from
  least(now(), attempt_seen_at + least(${attemptTouchMs}, deadline_ms / 4) * interval '1 millisecond')
    - attempt_started_at) * 1000, 0)::bigint`;
const spentUpstreamMs = `least(deadline_ms - 60000, generation_spent_ms
  + coalesce(extract(epoch from now() - attempt_started_at) * 1000, 0)::bigint)`;

// A task that waits for its first upstream job stays `queuing`.
const attemptState = `case when $2 and state <> 'generating' then 'queuing' else 'generating' end`;

/**
 * Records the start of a generation attempt. Returns undefined for a final or unknown task. With `waitsForJob` the task becomes
 * `generating` only with `recordGenerating`.
 */
export const beginGenerationAttempt = maybeOne<GeneratingTask, [taskId: string, waitsForJob?: boolean]>({
  name: 'begin-generation',
  text: `
update tasks set state = ${attemptState},
  generation_started_at = coalesce(generation_started_at, case when not $2 then now() end),
  attempt_started_at = now(), attempt_seen_at = now(), retry_at = null,
  generation_spent_ms = greatest(${spentMs}, case when exists (
    select from provider_jobs
    where task_id = $1 and submitted_at is not null and outcome is null and upstream_ended_at is null
  ) then ${spentUpstreamMs} end),
  updated_at = case state when ${attemptState} then updated_at else now() end
where id = $1 and ${unfinishedTaskSql}
returning ${taskColumns}, deadline_ms as "deadlineMs",
  deadline_ms - generation_spent_ms as "leftMs", coalesce(generation_started_at = now(), false) as "isFirst"`,
  values: (taskId, waitsForJob = false) => [taskId, waitsForJob],
});

/**
 * Records that an upstream created a job for the task `sinceMs` ago. Returns undefined if the task was `generating` before, or has ended.
 */
export const recordGenerating = maybeOne<{ readonly generationStartedAt: number }, [taskId: string, sinceMs: number]>({
  name: 'record-generating',
  text: `
update tasks set state = 'generating', updated_at = now(),
  generation_started_at = now() - $2::float8 * interval '1 millisecond'
where id = $1 and state in ('waiting', 'queuing')
returning generation_started_at as "generationStartedAt"`,
});

/** Records that these attempts are alive, and renews their reserved slots. */
export const touchGenerations = noRows<[taskIds: readonly string[]]>({
  name: 'touch-generations',
  text: `
with renewed as (update provider_jobs set reserved_at = now() where task_id = any($1::uuid[]) and ${isReservedJobSql})
update tasks set attempt_seen_at = now() where id = any($1::uuid[]) and state in ('queuing', 'generating')`,
});

/** Ends an attempt. The time until the next one does not count towards the deadline. */
export const pauseDeadlineClock = noRows<[taskId: string]>({
  name: 'pause-generation',
  text: `
update tasks set attempt_started_at = null, attempt_seen_at = now(),
  generation_spent_ms = generation_spent_ms + coalesce(extract(epoch from now() - attempt_started_at) * 1000, 0)::bigint
where id = $1 and state in ('queuing', 'generating')`,
});

/** Records that the attempt failed, and when the next one follows. For a task that waits for a slot, its row in the queue has that time. */
export const recordNextAttemptTime = noRows<[taskId: string, pauseMs: number]>({
  name: 'record-retry',
  text: `
update tasks set retry_at = now() + $2::float8 * interval '1 millisecond'
where id = $1 and ${unfinishedTaskSql} and not exists (select from slot_waits where task_id = $1)`,
});
export const listKnownTasks = many<{ taskId: string }, [taskIds: readonly string[]]>({
  name: 'list-known-tasks',
  text: `select id as "taskId" from tasks where id = any($1::uuid[])`,
});
