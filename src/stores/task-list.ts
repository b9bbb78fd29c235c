import type { TaskSearch } from '../domain/task-search.ts';
import type { FailCode, Task, TaskState } from '../domain/task.ts';
import { listTaskEntries } from './credits.ts';
import type { Database } from './database.ts';
import { findDelivery, listDeliveryAttempts } from './deliveries.ts';
import { listProviderJobs } from './provider-jobs.ts';
import { type AgedPage, many, none, one } from './statement.ts';
import { promptLexemes } from './migrations/0025-task-search.ts';
import { makerColumn, type Maker } from './task-maker.ts';
import { taskColumns } from './tasks.ts';
import { isUnfinished } from './task-states.ts';

export type TaskFilter = {
  /** Without it the tasks of all accounts. */
  readonly accountId?: string | undefined;
  /** For this and the next one no list is kept: without an account they need a bounded time. */
  readonly model?: string | undefined;
  /** Tasks with a job there. */
  readonly provider?: string | undefined;
  readonly state?: TaskState | undefined;
  /** Failed tasks with one of these codes. */
  readonly failCodes?: readonly FailCode[] | undefined;
  /** A key or a person; a UUID. */
  readonly createdBy?: string | undefined;
  /** A part of the id, or words of the prompt. Needs an account, since no index covers parts of ids. */
  readonly search?: TaskSearch | undefined;
  /** Unix milliseconds of creation, from (inclusive) and to (exclusive). */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** The last task of the page before this one; a UUID. One that is not the account's leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
};

export type ListedTask = Task & { readonly createdBy: Maker | undefined };

/**
 * Tasks, newest first, at most `limit`. Pages are cut by time of creation and id, so new tasks neither shift nor repeat what follows.
 * Where the page begins is one row to compare with, of the cursor or of `toMs`: given both as conditions, PostgreSQL would begin
 * at the wrong one and walk the index from there.
 */
export const listTasks = many<ListedTask, [filter: TaskFilter]>({
  name: 'list-tasks',
  plannedAnew: true,
  text: `
select ${taskColumns}, ${makerColumn} from tasks
where ($1::uuid is null or account_id = $1) and ($2::text is null or state = $2) and ($3::text is null or model = $3)
  and created_at >= coalesce(to_timestamp($4::float8 / 1000), '-infinity')
  and (created_at, id) < (
    case when $6::uuid is null then coalesce(to_timestamp($5::float8 / 1000), 'infinity')
      else (select created_at from tasks where id = $6 and ($1 is null or account_id = $1)) end,
    coalesce($6, '00000000-0000-0000-0000-000000000000'))
  and ($5 is null or created_at < to_timestamp($5 / 1000))
  and ($8::text[] is null or (state = 'fail' and fail_code = any($8)))
  and ($9::uuid is null or key_id = $9 or user_id = $9)
  and (not $10::boolean or id in (
    select id from tasks
    where $11::text is not null and ($1 is null or account_id = $1) and strpos(id::text, $11) > 0
      and created_at >= coalesce(to_timestamp($4::float8 / 1000), '-infinity')
    union all
    select id from tasks
    where $13::text is not null and account_id = $1
      and ${promptLexemes} @@ (('''' || $1::text || '''')::tsquery && to_tsquery('simple', $13))))
  and ($12::text is null or (select 1 from provider_jobs where task_id = tasks.id and provider = $12 limit 1) = 1)
order by created_at desc, id desc limit $7`,
  values: ({ accountId, state, model, fromMs, toMs, after, limit, failCodes, createdBy, search, provider }) => [
    accountId,
    state,
    model,
    fromMs,
    toMs,
    after,
    limit,
    failCodes,
    createdBy,
    search !== undefined,
    search?.idPart,
    provider,
    search?.words,
  ],
});

export type UnfinishedTask = Pick<Task, 'taskId' | 'accountId' | 'state'> & {
  readonly model: string;
  /** Milliseconds since it was accepted, by the database's clock. */
  readonly ageMs: number;
  /** How long its generation has run, over all attempts, as far as they were seen alive. */
  readonly ranMs: number;
  readonly deadlineMs: number;
  /** Whether its workflow's code could not go on when it was last described. */
  readonly isStuck: boolean;
  /** Whether an attempt to generate it was alive in the last two minutes. */
  readonly isGenerating: boolean;
  /** Whether its job has ended upstream, and its video is still to be fetched. */
  readonly isFetching: boolean;
};

/**
 * Unfinished tasks older than `minAgeMs` in order of arrival, a bounded page of them after the given one. A task that was accepted
 * before tasks kept their deadline, and has not begun since, has the longest one there is.
 */
export const listUnfinishedTasks = many<UnfinishedTask, [page: AgedPage]>({
  name: 'list-unfinished-tasks',
  text: `
select id as "taskId", account_id as "accountId", model, state, (extract(epoch from now() - created_at) * 1000)::bigint as "ageMs",
  generation_spent_ms + (extract(epoch from
    coalesce(attempt_seen_at - attempt_started_at, case when attempt_seen_at is null then now() - generation_started_at end,
      interval '0')) * 1000)::bigint as "ranMs",
  coalesce(deadline_ms, 86400000) as "deadlineMs", stuck_since is not null as "isStuck",
  coalesce(attempt_seen_at > now() - interval '2 minutes', false) as "isGenerating",
  coalesce((select true from provider_jobs
    where task_id = tasks.id and upstream_ended_at is not null and outcome is null limit 1), false) as "isFetching"
from tasks
where ${isUnfinished} and created_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (created_at, id) > (select created_at, id from tasks where id = $2))
order by created_at, id limit $3`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after, limit],
});

const markStuckTask = {
  name: 'mark-stuck-task',
  text: `
update tasks set stuck_since = to_timestamp($2::float8 / 1000)
where id = $1 and ${isUnfinished}
  and stuck_since is distinct from to_timestamp($2::float8 / 1000)
returning id`,
};

/**
 * The code of the task's workflow cannot go on, and has failed since then (Unix milliseconds); undefined when it goes on again. Answers
 * whether that is new.
 */
export async function markStuck(db: Database, taskId: string, since: number | undefined): Promise<boolean> {
  return (await db.run(markStuckTask, [taskId, since])).length > 0;
}

const countStuck = one<{ tasks: number }>({
  name: 'count-stuck-tasks',
  text: `
select count(*)::int as tasks from tasks
where stuck_since is not null and ${isUnfinished}`,
});

/** Unfinished tasks whose workflow's code could not go on when it was last described. */
export async function countStuckTasks(db: Database): Promise<number> {
  return (await countStuck(db)).tasks;
}

export type UnfinishedCount = {
  readonly model: string;
  readonly state: 'waiting' | 'queuing' | 'generating';
  readonly tasks: number;
  /** Since the oldest of them was accepted, by the database's clock. */
  readonly oldestAgeSeconds: number;
};

/** Unfinished tasks by model and state. Reads them all: a page of the table for each. */
export const countUnfinishedTasks = many<UnfinishedCount>({
  name: 'count-unfinished-tasks-by-model',
  text: `
select model, state, count(*)::int as tasks, extract(epoch from now() - min(created_at))::float8 as "oldestAgeSeconds"
from tasks where ${isUnfinished} group by model, state`,
});

/**
 * Tasks whose media is to go: successful ones past their retention, and failed ones after `leftoverMs`, because a killed attempt may
 * have left a file. These are listed once more after 26 hours: a worker that is cut off goes on until the deadline, 24 hours at most.
 */
export const listExpiredMedia = many<
  { readonly taskId: string },
  [page: PageOf<{ readonly taskId: string }> & { readonly retentionMs: number; readonly leftoverMs: number }]
>({
  name: 'list-expired-media',
  text: `
select id as "taskId" from (
  ${expiredMedia(`state = 'success' and media_deleted_at is null and completed_at < now() - $1 * interval '1 millisecond'`)}
  union all
  ${expiredMedia(`state = 'fail' and media_deleted_at is null and completed_at < now() - $2 * interval '1 millisecond'`)}
  union all
  ${expiredMedia(`state = 'fail' and media_deleted_at - completed_at < interval '26 hours' and completed_at < now() - interval '26 hours'`)}
) expired order by completed_at, id limit $4`,
  values: ({ retentionMs, leftoverMs, after, limit }) => [retentionMs, leftoverMs, after?.taskId, limit],
});

function expiredMedia(condition: string): string {
  return `(select id, completed_at from tasks where ${condition}
    and ($3::uuid is null or (completed_at, id) > (select completed_at, id from tasks where id = $3))
    order by completed_at, id limit $4)`;
}

/** Records that the media is gone; the task's record stays as it is. */
export const markMediaDeleted = none<[taskId: string]>({
  name: 'mark-media-deleted',
  text: `update tasks set media_deleted_at = now() where id = $1 and (media_deleted_at is null or state = 'fail')`,
});

/** A workflow that is to be ended because its task is final; written by `refundTask`, in the same statement. */
export type WorkflowTermination = { readonly taskId: string; readonly reason: string; readonly dueAtUs: number };

type PageOf<Row> = { readonly after: Row | undefined; readonly limit: number };

/** Terminations that are due, oldest first, a bounded page of them after the given one. */
export const listDueTerminations = many<WorkflowTermination, [page: PageOf<WorkflowTermination>]>({
  name: 'list-due-terminations',
  text: `
select task_id as "taskId", reason, (extract(epoch from due_at) * 1000000)::bigint as "dueAtUs" from workflow_terminations
where due_at <= now() and (due_at, task_id) > (
  coalesce(timestamptz 'epoch' + $1::float8 * interval '1 microsecond', '-infinity'),
  coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
order by due_at, task_id limit $3`,
  values: ({ after, limit }) => [after?.dueAtUs, after?.taskId, limit],
});

/** The workflow has ended, by us or by itself. */
export const removeTermination = none<[taskId: string]>({
  name: 'remove-termination',
  text: `delete from workflow_terminations where task_id = $1`,
});

/** What an operator may know of a task beside its record. */
export async function readTaskDetail(db: Database, taskId: string) {
  return {
    ledger: await listTaskEntries(db, taskId),
    providerJobs: await listProviderJobs(db, taskId),
    delivery: await findDelivery(db, taskId),
    attempts: await listDeliveryAttempts(db, taskId),
  };
}
