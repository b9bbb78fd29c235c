import type { Task, TaskFailure, TaskResult } from '../catalogue/tasks/task.ts';
import type { Database } from '../platform/database/database.ts';
import { partialRefundEntry, refundEntry } from '../credits/ledger/ledger-entry-sql.ts';
import { endEventTypeSql, taskEventIdSql } from './end/task-end-event-ids.ts';
import { isReservedSql } from './jobs/provider-pools.ts';
import { many, maybeOne, none } from '../platform/database/statement.ts';
import { finishedCondition, unfinishedCondition } from '../catalogue/tasks/task-conditions.ts';

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
  text: `select id from tasks where id = any($1::uuid[]) and ${finishedCondition}`,
});

/** Returns the final ones among these tasks. The caller bounds their number. */
export async function listEndedAmong(db: Database, taskIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set((await selectEnded(db, taskIds)).map(({ id }) => id));
}

export type QueuedTask = Task & { readonly deadlineMs: number };

const markQueuing = maybeOne<QueuedTask, [taskId: string]>({
  name: 'mark-queuing',
  text: `
update tasks set state = 'queuing', updated_at = now() where id = $1 and state = 'waiting'
returning ${taskColumns}, deadline_ms as "deadlineMs"`,
});
const findConfirmed = maybeOne<QueuedTask, [taskId: string]>({
  name: 'find-confirmed-task',
  text: `select ${taskColumns}, deadline_ms as "deadlineMs" from tasks where id = $1`,
});

/** Records that the workflow has begun: `waiting` becomes `queuing`; any later state stays. */
export async function recordQueuing(db: Database, taskId: string): Promise<QueuedTask | undefined> {
  return (await markQueuing(db, taskId)) ?? findConfirmed(db, taskId);
}

/** The interval in which a generation attempt reports that it is alive. */
export const attemptTouchMs = 15_000;

export type GeneratingTask = Task & {
  /** True if its generation began with this attempt. */
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
export const beginGeneration = maybeOne<GeneratingTask, [taskId: string, waitsForJob?: boolean]>({
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
where id = $1 and ${unfinishedCondition}
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
export const touchGenerations = none<[taskIds: readonly string[]]>({
  name: 'touch-generations',
  text: `
with renewed as (update provider_jobs set reserved_at = now() where task_id = any($1::uuid[]) and ${isReservedSql})
update tasks set attempt_seen_at = now() where id = any($1::uuid[]) and state in ('queuing', 'generating')`,
});

/** Ends an attempt. The time until the next one does not count towards the deadline. */
export const pauseGeneration = none<[taskId: string]>({
  name: 'pause-generation',
  text: `
update tasks set attempt_started_at = null, attempt_seen_at = now(),
  generation_spent_ms = generation_spent_ms + coalesce(extract(epoch from now() - attempt_started_at) * 1000, 0)::bigint
where id = $1 and state in ('queuing', 'generating')`,
});

/** Records that the attempt failed, and when the next one follows. For a task that waits for a slot, its row in the queue has that time. */
export const recordRetry = none<[taskId: string, pauseMs: number]>({
  name: 'record-retry',
  text: `
update tasks set retry_at = now() + $2::float8 * interval '1 millisecond'
where id = $1 and ${unfinishedCondition} and not exists (select from slot_waits where task_id = $1)`,
});

export type EndedTask = {
  readonly task: Task;
  readonly hasCallback: boolean;
  /** True if the account receives an event about this end. */
  readonly hasEvent: boolean;
  /** False if the task was final before, perhaps by an earlier call whose response was lost. */
  readonly changed: boolean;
};

// Both endings decrement the account's unfinished tasks, book what is refunded, and create the deliveries of callback and event with the
// final state.
const settleAccount = (entry: string) => `account as (
  update accounts set balance = balance + ended.credits_refunded, unfinished_tasks = unfinished_tasks - 1
  from ended where accounts.id = ended.account_id
  returning accounts.id, accounts.balance
), ${entry}`;
const createDeliveries = `callback as (
  insert into callback_deliveries (id, task_id, account_id, url)
  select id, id, account_id, callback_url from ended where callback_url is not null
), event as (
  insert into callback_deliveries (id, task_id, account_id, event, url)
  select ${taskEventIdSql('id')}, id, ended.account_id, ${endEventTypeSql}, url
  from ended join event_endpoints on event_endpoints.account_id = ended.account_id and ${endEventTypeSql} = any (types)
  on conflict (id) do nothing returning id
)`;
const hasNewEvent = `exists (select from event) as "hasEvent"`;

type EndedTaskRow = Task & Pick<EndedTask, 'hasEvent'>;

/** The part of the charge that goes back for a video that fell short of its order. */
export type PartialRefund = { readonly credits: number; readonly reason: string };

const succeed = maybeOne<EndedTaskRow, [taskId: string, result: string, refund: PartialRefund | undefined]>({
  name: 'end-task-in-success',
  text: `
with ended as (
  update tasks set state = 'success', result = $2, credits_refunded = $3, completed_at = now(), updated_at = now()
  where id = $1 and ${unfinishedCondition}
  returning *
), ${settleAccount(partialRefundEntry('$4'))}, ${createDeliveries}
select ${taskColumns}, ${hasNewEvent} from ended`,
  values: (taskId, result, refund) => [taskId, result, refund?.credits ?? 0, refund?.reason],
});

/**
 * Ends the task in `success`, and refunds a part of its charge in the same statement if the video fell short. A final task keeps its
 * state, and is returned. Throws for an unknown task.
 */
export async function completeTask(
  db: Database,
  taskId: string,
  result: TaskResult,
  refund?: PartialRefund,
): Promise<EndedTask> {
  return endedTask(db, taskId, await succeed(db, taskId, JSON.stringify(result), refund));
}

// Nothing was made yet, and no repeat of the create was answered with the task.
const isUnstarted = `(state in ('waiting', 'queuing') and not exists (select from provider_jobs where task_id = $1)
    and not exists (select from create_attempts where task_id = $1 and attempt_id <> $1))`;

type FailOptions = { readonly terminatesAfterMs?: number; readonly onlyUnstarted?: true };

const fail = maybeOne<EndedTaskRow, [taskId: string, failure: TaskFailure, options: FailOptions]>({
  name: 'end-task-in-fail',
  text: `
with ended as (
  update tasks set state = 'fail', fail_code = $2, fail_msg = $3, credits_refunded = credits_charged,
    completed_at = now(), updated_at = now()
  where id = $1 and ${unfinishedCondition} and (not $5 or ${isUnstarted})
  returning *
), ${settleAccount(refundEntry)}, termination as (
  insert into workflow_terminations (task_id, reason, due_at)
  select id, $3, now() + $4::float8 * interval '1 millisecond' from ended where $4::float8 is not null
), no_longer_waiting as (
  delete from slot_waits using ended where task_id = ended.id
), ${createDeliveries}
select ${taskColumns}, ${hasNewEvent} from ended`,
  values: (taskId, { failCode, failMsg }, { terminatesAfterMs, onlyUnstarted = false }) => [
    taskId,
    failCode,
    failMsg,
    terminatesAfterMs,
    onlyUnstarted,
  ],
});

/** The workflow of a cancelled task is terminated if it still runs after this time. */
export const cancelGraceMs = 10 * 60_000;

/**
 * Ends the task in `fail` and refunds it in full, in one statement. A final task keeps its state. Throws for an unknown task. Callers
 * other than the task's own workflow set `terminatesAfterMs`: `reconcile` terminates the workflow if it still runs by that time. With
 * `onlyUnstarted`, a task stays as it is once an upstream may make its video.
 */
export async function failAndRefund(
  db: Database,
  taskId: string,
  failure: TaskFailure,
  options: FailOptions = {},
): Promise<EndedTask> {
  return endedTask(db, taskId, await fail(db, taskId, failure, options));
}

const findEnded = maybeOne<EndedTaskRow, [taskId: string]>({
  name: 'find-ended-task',
  text: `
select ${taskColumns}, exists (select from callback_deliveries where id = ${taskEventIdSql('$1::uuid')}) as "hasEvent"
from tasks where id = $1`,
});

async function endedTask(db: Database, taskId: string, ended: EndedTaskRow | undefined): Promise<EndedTask> {
  const found = ended ?? (await findEnded(db, taskId));
  if (found === undefined) throw new Error(`task ${taskId} not found`);
  const { hasEvent, ...task } = found;
  return { task, hasCallback: task.param.callBackUrl !== undefined, hasEvent, changed: ended !== undefined };
}
