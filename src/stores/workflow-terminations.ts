import type { Database } from './database.ts';

/** A workflow that is to be ended because its task is final; written together with the refund (end-task.ts). */
export type WorkflowTermination = { readonly taskId: string; readonly reason: string };

const selectDue = {
  name: 'list-due-terminations',
  text: `
select task_id, reason from workflow_terminations
where due_at <= now() order by due_at, task_id limit $1`,
};

/** Terminations that are due, oldest first, a bounded page. */
export async function listDueTerminations(db: Database, limit: number): Promise<readonly WorkflowTermination[]> {
  const rows = await db.run<{ task_id: string; reason: string }>(selectDue, [limit]);
  return rows.map((row) => ({ taskId: row.task_id, reason: row.reason }));
}

const remove = {
  name: 'remove-termination',
  text: `delete from workflow_terminations where task_id = $1`,
};

/** The workflow has ended, by us or by itself. */
export async function removeTermination(db: Database, taskId: string): Promise<void> {
  await db.run(remove, [taskId]);
}
