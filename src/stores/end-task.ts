import type { Task, TaskFailure, TaskResult } from '../domain/task.ts';
import type { Database } from './database.ts';
import { taskColumns, taskFromRow, type TaskRow } from './task-row.ts';
import { findTask } from './tasks.ts';

/** A final task, whoever ended it. */
export type EndedTask = {
  readonly task: Task;
  /** Whether a callback is owed for it. */
  readonly hasCallback: boolean;
  /** True when this very call ended it; false when it was final before, or an earlier call was lost after its commit. */
  readonly changed: boolean;
};

// What both endings share: the account gets a free place, and the callback's delivery is born with the final state.
const freePlace = `account_freed as (
  update accounts set unfinished_tasks = unfinished_tasks - 1 from ended where accounts.id = ended.account_id
)`;
const owedDelivery = `delivery as (
  insert into callback_deliveries (task_id, account_id, url)
  select id, account_id, callback_url from ended where callback_url is not null
)`;

const succeed = {
  name: 'end-task-in-success',
  text: `
with ended as (
  update tasks set state = 'success', result = $2, completed_at = now(), updated_at = now()
  where id = $1 and state not in ('success', 'fail')
  returning ${taskColumns}, callback_url
), ${freePlace}, ${owedDelivery}
select ${taskColumns} from ended`,
};

/** Ends the task in `success`. A task that is final already keeps its state, which is then the answer. Throws for an unknown task. */
export async function completeTask(db: Database, taskId: string, result: TaskResult): Promise<EndedTask> {
  return endedTask(db, taskId, await db.run<TaskRow>(succeed, [taskId, JSON.stringify(result)]));
}

const fail = {
  name: 'end-task-in-fail',
  text: `
with ended as (
  update tasks set state = 'fail', fail_code = $2, fail_msg = $3, credits_refunded = credits_charged,
    completed_at = now(), updated_at = now()
  where id = $1 and state not in ('success', 'fail')
  returning ${taskColumns}, callback_url
), account as (
  update accounts set balance = balance + ended.credits_charged, unfinished_tasks = unfinished_tasks - 1
  from ended where accounts.id = ended.account_id
  returning accounts.id, accounts.balance
), entry as (
  insert into ledger_entries (account_id, task_id, kind, amount, balance_after)
  select account.id, ended.id, 'refund', ended.credits_charged, account.balance from ended, account
), termination as (
  insert into workflow_terminations (task_id, reason, due_at)
  select id, $3, now() + $4::float8 * interval '1 millisecond' from ended where $4::float8 is not null
), ${owedDelivery}
select ${taskColumns} from ended`,
};

/** The workflow of a task that was cancelled has so long to end by itself. */
export const cancelGraceMs = 10 * 60_000;

export type Refund = {
  /** For whoever is not the task's own workflow: that one is terminated by `reconcile` if it still runs after so long. */
  readonly terminatesAfterMs?: number;
};

/** Ends the task in `fail` and refunds it in full, in one transaction. A final task keeps its state. Throws for an unknown task. */
export async function refundTask(
  db: Database,
  taskId: string,
  failure: TaskFailure,
  { terminatesAfterMs }: Refund = {},
): Promise<EndedTask> {
  const values = [taskId, failure.failCode, failure.failMsg, terminatesAfterMs];
  return endedTask(db, taskId, await db.run<TaskRow>(fail, values));
}

async function endedTask(db: Database, taskId: string, [ended]: readonly TaskRow[]): Promise<EndedTask> {
  const task = ended === undefined ? await findTask(db, taskId) : taskFromRow(ended);
  if (task === undefined) throw new Error(`task ${taskId} does not exist`);
  return { task, hasCallback: task.param.callBackUrl !== undefined, changed: ended !== undefined };
}
