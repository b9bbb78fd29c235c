import { deletedMessage, withoutContent } from './content-placeholders.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { isFinalState, type Task } from '../../catalogue/tasks/task.ts';
import { taskEventIdSql } from './task-end-event-and-delivery-ids.ts';
import type { Database } from '../../platform/database/database.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import { jobMayStillRunSql } from '../jobs/provider-pools-and-switches.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import { microsecondsSql, pageStartRowSql } from '../../platform/database/sql-fragments-and-parameters.ts';
import { finishedTaskSql, unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';
import { findTask, taskColumns } from '../task-rows.ts';

// The deletion of a task's content. The commit removes it from the database; files and Temporal's histories are deleted later.

// The foreign key deletes the attempts with the delivery, also one that is being recorded.
const deleteContent = maybeOne<{ deletedAt: number }, [task: Task, uploadIds: readonly string[]]>({
  name: 'delete-task-content',
  text: `
with task as (
  update tasks set content_deleted_at = now(), media_deleted_at = coalesce(media_deleted_at, now()), param = $2,
    callback_url = null, request_sha256 = decode(repeat('00', 32), 'hex'),
    fail_msg = case when fail_msg is not null then $3::text end,
    result = case when result is not null then (result::jsonb || '{"sha256": ""}')::json end
  where id = $1 and ${finishedTaskSql} and content_deleted_at is null
  returning id, account_id, content_deleted_at
), job as (
  update provider_jobs set ${jobContent('$3::text')},
    sent_input = case when job_id is null and intended_at is not null and ${jobMayStillRunSql} then $5::json end
  from task where task_id = task.id
), delivery as (
  delete from callback_deliveries using task where callback_deliveries.id in (task.id, ${taskEventIdSql('task.id')})
), upload as (
  update uploads set expires_at = least(expires_at, now()) from task
  where uploads.id = any($4::uuid[]) and uploads.account_id = task.account_id
), owed as (
  insert into content_deletions (task_id, account_id, upload_ids) select id, account_id, $4::uuid[] from task
)
select content_deleted_at as "deletedAt" from task`,
  values: ({ taskId, param }, uploadIds) => [
    taskId,
    JSON.stringify(withoutContent(param)),
    deletedMessage,
    uploadIds,
    JSON.stringify(param.input),
  ],
});

/** SQL that deletes upstreams' messages. The handle of a job that may still run is needed to stop it, and deleted later, like `sent_input`. */
function jobContent(message: string): string {
  return `detail = null, fail_msg = case when fail_msg is not null then ${message} end,
    handle = case when ${jobMayStillRunSql} then handle end`;
}

export type ContentDeletionOutcome = { readonly deletedAt: number; readonly changed: boolean };

/**
 * Deletes a task's content. `uploadIds`: the uploaded files that it used. The rest of the task's row and the ledger stay. Returns undefined
 * for an unfinished task, and the time of the first deletion for a deleted one.
 */
export async function deleteTaskContentInDatabase(
  db: Pick<Database, 'run'>,
  task: Task,
  uploadIds: readonly string[],
): Promise<ContentDeletionOutcome | undefined> {
  if (!isFinalState(task.state)) return undefined;
  const deleted = await deleteContent(db, task, uploadIds);
  const deletedAt = deleted?.deletedAt ?? (await findTask(db, task.taskId))?.contentDeletedAt;
  if (deletedAt === undefined) throw new Error(`the content of task ${task.taskId} is not deleted`);
  return { deletedAt, changed: deleted !== undefined };
}

const listExpiredContent = many<Task, [before: number, limit: number]>({
  name: 'list-expired-content',
  text: `
select ${taskColumns} from tasks
where completed_at is not null and content_deleted_at is null and completed_at < to_timestamp($1::float8 / 1000)
  and not exists (select from provider_jobs where task_id = tasks.id and intended_at is not null and ${jobMayStillRunSql})
  and not exists (select from callback_deliveries where id in (tasks.id, ${taskEventIdSql('tasks.id')}) and state = 'pending')
order by completed_at limit $2`,
});

/**
 * Deletes the content of a page of tasks that ended before a time (Unix milliseconds). Tasks whose job may still run upstream, or whose
 * callback or event is pending, are left out. Uploaded files have a retention of their own.
 */
export async function deleteExpiredContent(db: Database, before: number, limit: number): Promise<number> {
  const tasks = await listExpiredContent(db, before, limit);
  for (const task of tasks) await deleteTaskContentInDatabase(db, task, []);
  return tasks.length;
}

export function deleteTaskContentAs(
  db: Database,
  actor: Actor,
  { task, uploadIds, reason }: { readonly task: Task; readonly uploadIds: readonly string[]; readonly reason: string },
): Promise<ContentDeletionOutcome | undefined> {
  const { taskId, accountId } = task;
  return changeWithAudit(db, actor, async (transaction) => {
    const answer = await deleteTaskContentInDatabase(transaction, task, uploadIds);
    if (answer?.changed !== true) return { answer };
    return { answer, done: { action: 'tasks.delete', accountId, taskId, details: { reason } } };
  });
}

/** A deletion whose files and histories must still be deleted. */
export type OwedDeletion = {
  readonly taskId: string;
  readonly accountId: string;
  readonly uploadIds: readonly string[];
  /** True if no attempt can be alive any more that could write a file or a history. */
  readonly isLast: boolean;
  /** The cursor of the list, because a sweep moves or deletes the row. */
  readonly dueAtUs: number;
};

/** Longer than a cut-off worker can continue. */
const lastAfter = `interval '26 hours'`;

const selectOwed = `
select task_id as "taskId", content_deletions.account_id as "accountId", upload_ids as "uploadIds",
  completed_at < now() - ${lastAfter} as "isLast", ${microsecondsSql('due_at')} as "dueAtUs"
from content_deletions join tasks on tasks.id = task_id`;

export const findOwedDeletion = maybeOne<OwedDeletion, [taskId: string]>({
  name: 'find-owed-deletion',
  text: `${selectOwed} where task_id = $1`,
});

export const listOwedDeletions = many<
  OwedDeletion,
  [page: { after: Pick<OwedDeletion, 'dueAtUs' | 'taskId'> | undefined; limit: number }]
>({
  name: 'list-owed-deletions',
  text: `
${selectOwed}
where due_at <= now() and (due_at, task_id) > ${pageStartRowSql('$1', '$2')}
order by due_at, task_id limit $3`,
  values: ({ after, limit }) => [after?.dueAtUs, after?.taskId, limit],
});

/** Returns those uploaded files that an unfinished task of the account uses. */
export const listNeededUploads = many<{ readonly uploadId: string }, [accountId: string, uploadIds: readonly string[]]>(
  {
    name: 'list-needed-uploads',
    text: `
select uploads.id as "uploadId" from uploads
where uploads.id = any($2::uuid[]) and exists (
  select from tasks where account_id = $1 and ${unfinishedTaskSql}
    and strpos(param::text, uploads.id::text) > 0)`,
  },
);

/** Deletes what live attempts have recorded since the deletion. Returns the jobs that may still run upstream. */
export const clearContentAndListLeftoverJobs = many<{ readonly ordinal: number }, [taskId: string]>({
  name: 'clear-provider-jobs',
  text: `
with cleared as (
  update provider_jobs set ${jobContent('$2::text')},
    sent_input = case when ${jobMayStillRunSql} and intended_at > now() - interval '1 day' then sent_input end
  where task_id = $1
)
select ordinal from provider_jobs where task_id = $1 and ${jobMayStillRunSql}`,
  values: (taskId) => [taskId, deletedMessage],
});

/** Ends a sweep. The deletion is swept once more when no attempt can be alive. */
export const finishDeletionSweep = noRows<[owed: OwedDeletion]>({
  name: 'finish-content-deletion',
  text: `
with finished as (delete from content_deletions where task_id = $1 and $2)
update content_deletions set swept_at = coalesce(swept_at, now()),
  due_at = (select completed_at + ${lastAfter} from tasks where id = $1)
where task_id = $1 and not $2`,
  values: ({ taskId, isLast }) => [taskId, isLast],
});
