import { microsecondsSql, pageStartRowSql } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, noRows } from '../../platform/database/declare-statements.ts';

/** A workflow to be terminated because its task is final; `failAndRefund` inserts it. */
export type WorkflowTermination = { readonly taskId: string; readonly reason: string; readonly dueAtUs: number };

/** Lists due terminations, oldest first. */
export const listDueTerminations = many<
  WorkflowTermination,
  [page: { readonly after: WorkflowTermination | undefined; readonly limit: number }]
>({
  name: 'list-due-terminations',
  text: `
select task_id as "taskId", reason, ${microsecondsSql('due_at')} as "dueAtUs" from workflow_terminations
where due_at <= now() and (due_at, task_id) > ${pageStartRowSql('$1', '$2')}
order by due_at, task_id limit $3`,
  values: ({ after, limit }) => [after?.dueAtUs, after?.taskId, limit],
});

export const removeTermination = noRows<[taskId: string]>({
  name: 'remove-termination',
  text: `delete from workflow_terminations where task_id = $1`,
});
