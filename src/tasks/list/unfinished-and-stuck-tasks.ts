import type { Task } from '../../catalogue/tasks/task.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';
import { type AgedPageQuery, many, maybeOne, one } from '../../platform/database/declare-statements.ts';

export type UnfinishedTask = Pick<Task, 'taskId' | 'accountId' | 'state'> & {
  readonly model: string;
  /** Milliseconds since its creation, by the database's clock. */
  readonly ageMs: number;
  /** The time in which its generation has run, over all attempts, until their last reports. */
  readonly ranMs: number;
  readonly deadlineMs: number;
  /** True if the code of its workflow had failed when the workflow was last described. */
  readonly isStuck: boolean;
  /** True if an attempt was alive in the last two minutes. */
  readonly isGenerating: boolean;
  /** True if its job has ended upstream and its video is not fetched yet. */
  readonly isFetching: boolean;
};

/** Lists unfinished tasks older than `minAgeMs`, oldest first. */
export const listUnfinishedTasks = many<UnfinishedTask, [page: AgedPageQuery]>({
  name: 'list-unfinished-tasks',
  text: `
select id as "taskId", account_id as "accountId", model, state, (extract(epoch from now() - created_at) * 1000)::bigint as "ageMs",
  generation_spent_ms + (extract(epoch from
    coalesce(attempt_seen_at - attempt_started_at, case when attempt_seen_at is null then now() - generation_started_at end,
      interval '0')) * 1000)::bigint as "ranMs",
  deadline_ms as "deadlineMs", stuck_since is not null as "isStuck",
  coalesce(attempt_seen_at > now() - interval '2 minutes', false) as "isGenerating",
  coalesce((select true from provider_jobs
    where task_id = tasks.id and upstream_ended_at is not null and outcome is null limit 1), false) as "isFetching"
from tasks
where ${unfinishedTaskSql} and created_at < now() - $1 * interval '1 millisecond'
  and ($2::uuid is null or (created_at, id) > (select created_at, id from tasks where id = $2))
order by created_at, id limit $3`,
  values: ({ minAgeMs, after, limit }) => [minAgeMs, after, limit],
});

/**
 * Records since when (Unix milliseconds) the code of the task's workflow has
 * failed; undefined if it runs again. Returns undefined if that is not new.
 */
export const recordStuckSince = maybeOne<{ readonly id: string }, [taskId: string, since: number | undefined]>({
  name: 'mark-stuck-task',
  text: `
update tasks set stuck_since = to_timestamp($2::float8 / 1000)
where id = $1 and ${unfinishedTaskSql}
  and stuck_since is distinct from to_timestamp($2::float8 / 1000)
returning id`,
});

export const countTasksWithFailingWorkflow = one<{ tasks: number }>({
  name: 'count-stuck-tasks',
  text: `
select count(*)::int as tasks from tasks
where stuck_since is not null and ${unfinishedTaskSql}`,
});
