import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

// An operator ends waits early. A cooldown ends as it does automatically: its breaker is half open, and one task tries the provider. Slots,
// jobs and the order of the queue stay, so a woken task does what it would have done later.

/** More tasks than providers have slots need no waking. */
export const maxTasksWokenByOperator = 100;

const endCooldownsOfTask = noRows<[taskId: string]>({
  name: 'end-cooldowns-of-task',
  text: `
update provider_pools set cooling_until = now()
where cooling_until > now() and pool in (select pool from slot_waits where task_id = $1)`,
});

const findTaskToRetry = maybeOne<{ readonly accountId: string; readonly isUnfinished: boolean }, [taskId: string]>({
  name: 'find-task-to-retry',
  text: `select account_id as "accountId", ${unfinishedTaskSql} as "isUnfinished" from tasks where id = $1`,
});

/** Ends the wait of a task. Returns undefined for an unknown task; a task that has ended is left alone. */
export function endWaitOfTaskAs(
  db: Database,
  actor: Actor,
  { taskId, reason }: { readonly taskId: string; readonly reason: string },
): Promise<{ readonly isRetried: boolean } | undefined> {
  return changeWithAudit<{ readonly isRetried: boolean } | undefined>(db, actor, async (transaction) => {
    const task = await findTaskToRetry(transaction, taskId);
    if (task?.isUnfinished !== true) return { answer: task && { isRetried: false } };
    await endCooldownsOfTask(transaction, taskId);
    const { accountId } = task;
    return { answer: { isRetried: true }, done: { action: 'tasks.retry', accountId, taskId, details: { reason } } };
  });
}

const endCooldownsOfProvider = noRows<[provider: string]>({
  name: 'end-cooldowns-of-provider',
  text: 'update provider_pools set cooling_until = now() where provider = $1 and cooling_until > now()',
});

/** The first tasks of the provider's queues, and tasks whose job there is to be followed again. */
const listWaitingFor = many<{ readonly taskId: string }, [provider: string]>({
  name: 'list-tasks-waiting-for-provider',
  text: `
select task_id as "taskId" from (
  (select w.task_id, 1 as part, w.ticket as position from provider_pools p
    cross join lateral (
      select task_id, ticket from slot_waits where pool = p.pool order by ticket, queued_at, task_id limit ${maxTasksWokenByOperator}
    ) w
    where provider = $1)
  union all
  (select id, 2, row_number() over (order by created_at) from tasks
    where ${unfinishedTaskSql} and retry_at > now() and not exists (select from slot_waits where task_id = tasks.id)
      and exists (select from provider_jobs where task_id = tasks.id and provider = $1 and outcome is null)
    order by created_at limit ${maxTasksWokenByOperator})
) waiting order by part, position, task_id limit ${maxTasksWokenByOperator}`,
});

/** Returns the tasks to be woken. */
export function endWaitsForProviderAs(
  db: Database,
  actor: Actor,
  { provider, reason }: { readonly provider: string; readonly reason: string },
): Promise<readonly string[]> {
  return changeWithAudit(db, actor, async (transaction) => {
    await endCooldownsOfProvider(transaction, provider);
    const answer = (await listWaitingFor(transaction, provider)).map(({ taskId }) => taskId);
    return { answer, done: { action: 'tasks.retry', details: { provider, tasks: answer.length, reason } } };
  });
}
