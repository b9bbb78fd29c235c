import { type Kysely, sql } from 'kysely';

/** What belongs to a task and not to today's catalogue: its deadline, its providers, how much of the deadline is used up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
-- An attempt that died left its start and the last moment at which it was seen alive.
alter table tasks
  add column deadline_ms integer,
  add constraint deadline_is_positive check (deadline_ms > 0),
  add column providers json,
  add column generation_spent_ms bigint not null default 0,
  add column attempt_started_at timestamptz,
  add column attempt_seen_at timestamptz,
  add column stuck_since timestamptz;
-- Workflows to be ended because their task is final: written with the refund, deleted when it is done. Almost always empty.
create table workflow_terminations (
  task_id uuid primary key references tasks,
  reason text not null,
  due_at timestamptz not null
);
create index workflow_terminations_by_due on workflow_terminations (due_at, task_id);
create index tasks_stuck on tasks (stuck_since) where stuck_since is not null and state in ('waiting', 'queuing', 'generating');
-- Failed tasks that were cleaned while an attempt could still be alive: they are cleaned once more.
create index tasks_failed_cleaned_early on tasks (completed_at)
  where state = 'fail' and media_deleted_at - completed_at < interval '26 hours'`.execute(db);
}
