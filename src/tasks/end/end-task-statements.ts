import type { Task, TaskFailure, TaskResult } from '../../catalogue/tasks/task.ts';
import type { Database } from '../../platform/database/database.ts';
import { partialRefundEntrySql, refundEntrySql } from '../../credits/ledger/ledger-entry-sql.ts';
import { taskEventIdSql } from './task-end-event-and-delivery-ids.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';
import { taskColumns } from '../task-rows.ts';

export type EndedTask = {
  readonly task: Task;
  readonly hasCallback: boolean;
  /** True if the account receives an event about this end. */
  readonly hasEvent: boolean;
  /** False if the task was final before, for example by an earlier statement whose response was lost. */
  readonly changed: boolean;
};

/** The type of the event of a row of `tasks` that has ended. */
const endEventTypeSql = `case when state = 'success' then 'task.succeeded'
    when fail_code = 'cancelled' then 'task.cancelled' else 'task.failed' end`;

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
  where id = $1 and ${unfinishedTaskSql}
  returning *
), ${settleAccount(partialRefundEntrySql('$4'))}, ${createDeliveries}
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
  where id = $1 and ${unfinishedTaskSql} and (not $5 or ${isUnstarted})
  returning *
), ${settleAccount(refundEntrySql)}, termination as (
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
