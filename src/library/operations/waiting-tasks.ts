import { many } from '../../platform/database/declare-statements.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';
import { maxTasksRead } from './overview-counts.ts';

// Unfinished tasks that wait, and why. A task without a slot has rows in `slot_waits`; after any other failed attempt, `retry_at` is the
// time of the next one.

export const waitReasons = [
  /** Accepted, and not started yet. */
  'start',
  /** It only needs a free worker. */
  'worker',
  /** All slots of the provider are taken. */
  'provider_limit',
  'provider_cooldown',
  /** An operator has drained or disabled the provider. */
  'provider_disabled',
  /** Behind other tasks of its account; accounts alternate. */
  'account_queue',
  /** The response of its create was lost, and the job is looked up. Its slot stays taken meanwhile. */
  'lost_response',
  /** An attempt failed, and another one follows. */
  'retry',
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** A task is expected to have started, and a worker to have noticed the end of a wait, after these times. */
const [startGrace, workerGrace] = [`interval '10 seconds'`, `interval '1 minute'`];
/** An attempt without a heartbeat for this long is not alive. */
const attemptGrace = `interval '2 minutes'`;

// A task that waits at several providers counts at the one of its next request.
const waiting = `
unfinished as materialized (
  select id, account_id, model, state, created_at, retry_at, attempt_seen_at from tasks where ${unfinishedTaskSql}
  order by created_at limit ${maxTasksRead}
), queued as materialized (
  select *, row_number() over (partition by pool, account_id order by ticket, queued_at, task_id) as position
  from (select distinct on (task_id) * from slot_waits order by task_id, due_at) next
), waiting as materialized (
  select t.id as task_id, t.account_id, t.model, t.created_at, q.pool, p.provider, p.cooling_reason,
    coalesce(q.due_at, t.retry_at) as next_at, case
      when q.pool is not null and q.due_at < now() - ${workerGrace} then 'worker'
      when s.state <> 'enabled' then 'provider_disabled'
      when p.failures > 0 then 'provider_cooldown'
      when q.position > 1 then 'account_queue'
      when q.pool is not null then 'provider_limit'
      when t.retry_at > now() and exists (
        select from provider_jobs j where j.task_id = t.id and intended_at is not null and job_id is null and outcome is null
      ) then 'lost_response'
      when t.retry_at > now() then 'retry'
      when t.state = 'waiting' and t.created_at < now() - ${startGrace} then 'start'
      when t.state = 'queuing' and coalesce(t.attempt_seen_at < now() - ${attemptGrace}, true) then 'worker'
    end as reason
  from unfinished t
  left join queued q on q.task_id = t.id
  left join provider_pools p on p.pool = q.pool
  left join provider_switches s on s.provider = p.provider
)`;

const millis = (interval: string) => `(extract(epoch from ${interval}) * 1000)::bigint`;
/** The earliest next attempt; undefined for tasks that no timer wakes. */
const nextAt = `case when reason in ('start', 'worker') then null else next_at end`;

export type WaitingByReasonAndPool = {
  readonly reason: WaitReason;
  readonly provider: string | undefined;
  readonly pool: string | undefined;
  readonly coolingReason: string | undefined;
  readonly tasks: number;
  readonly oldestMs: number;
  /** Unix milliseconds. */
  readonly nextAt: number | undefined;
};

export const countWaitingByReasonAndPool = many<WaitingByReasonAndPool>({
  name: 'group-waiting-tasks',
  text: `
with ${waiting}
select reason, provider, pool, case reason when 'provider_cooldown' then cooling_reason end as "coolingReason",
  count(*)::int as tasks, ${millis('now() - min(created_at)')} as "oldestMs", min(${nextAt}) as "nextAt"
from waiting where reason is not null group by 1, 2, 3, 4 order by 5 desc, 1, 3 limit 200`,
});

export type WaitingAccount = {
  readonly accountId: string;
  readonly accountName: string;
  readonly tasks: number;
  readonly oldestMs: number;
};

export const listWaitingAccounts = many<WaitingAccount>({
  name: 'list-waiting-accounts',
  text: `
with ${waiting}
select account_id as "accountId", name as "accountName", count(*)::int as tasks,
  ${millis('now() - min(waiting.created_at)')} as "oldestMs"
from waiting join accounts on accounts.id = account_id where reason is not null group by 1, 2 order by 3 desc, 4 desc limit 10`,
});

export type WaitingTask = Omit<WaitingByReasonAndPool, 'tasks' | 'oldestMs'> & {
  readonly taskId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly model: string;
  readonly ageMs: number;
};

export const listWaitingTasks = many<WaitingTask>({
  name: 'list-waiting-tasks',
  text: `
with ${waiting}
select task_id as "taskId", account_id as "accountId", name as "accountName", model, reason, provider, pool,
  case reason when 'provider_cooldown' then cooling_reason end as "coolingReason",
  ${millis('now() - waiting.created_at')} as "ageMs", ${nextAt} as "nextAt"
from waiting join accounts on accounts.id = account_id where reason is not null
order by waiting.created_at, task_id limit 50`,
});
