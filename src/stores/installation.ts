import { many, one } from './statement.ts';
import { isUnfinished } from './task-states.ts';

// What operators watch: the whole installation, in sums. What has ended long ago is none of it.

/** Of the last 24 hours, no more than so many tasks are looked at: the newest. */
export const maxTasksOfDay = 200_000;

export type UnfinishedOfModel = {
  readonly model: string;
  readonly state: 'waiting' | 'queuing' | 'generating';
  readonly tasks: number;
  /** Milliseconds since the oldest of them was created. */
  readonly oldestMs: number;
};

export const listUnfinishedByModel = many<UnfinishedOfModel>({
  name: 'list-unfinished-by-model',
  text: `
select model, state, count(*)::int as tasks, (extract(epoch from now() - min(created_at)) * 1000)::bigint as "oldestMs"
from (
  select model, state, created_at from tasks where ${isUnfinished}
  order by created_at limit ${maxTasksOfDay}
) unfinished
group by 1, 2 order by 1, 2`,
});

export type CreatedOfDay = { readonly created: number; readonly charged: number };

export const sumCreatedOfDay = one<CreatedOfDay>({
  name: 'sum-created-of-day',
  text: `
select count(*)::int as created, coalesce(sum(credits_charged), 0)::bigint as charged from (
  select credits_charged from tasks where created_at > now() - interval '1 day'
  order by created_at desc, id desc limit ${maxTasksOfDay}
) recent`,
});

/** Tasks that ended in the last 24 hours; `failCode` is undefined for success. */
export type EndedOfDay = { readonly failCode: string | undefined; readonly tasks: number; readonly refunded: number };

export const sumEndedOfDay = many<EndedOfDay>({
  name: 'sum-ended-of-day',
  text: `
select fail_code as "failCode", count(*)::int as tasks, sum(credits_refunded)::bigint as refunded from (
  select fail_code, credits_refunded from tasks
  where completed_at is not null and completed_at > now() - interval '1 day'
  order by completed_at desc limit ${maxTasksOfDay}
) ended
group by 1 order by 2 desc, 1`,
});

/** No callbacks are counted further. */
export const maxCallbacksCounted = 10_000;

export type CallbacksOwed = { readonly pending: number; readonly overdue: number; readonly undelivered: number };

/** `overdue` by a minute: nobody attempts them, or the attempt takes long. `undelivered` in the last 24 hours. */
export const countOwedCallbacks = one<CallbacksOwed>({
  name: 'count-owed-callbacks',
  text: `
select
  (select count(*)::int from (
    select from callback_deliveries where state = 'pending' limit ${maxCallbacksCounted}) t) as pending,
  (select count(*)::int from (
    select from callback_deliveries where state = 'pending' and due_at < now() - interval '1 minute'
    limit ${maxCallbacksCounted}) t) as overdue,
  (select count(*)::int from (
    select from callback_deliveries where state in ('failed', 'gone') and finished_at > now() - interval '1 day'
    limit ${maxCallbacksCounted}) t) as undelivered`,
});

export type FoundViolation = {
  readonly rule: string;
  readonly accountId: string | undefined;
  readonly entryId: number | undefined;
  readonly taskId: string | undefined;
  readonly detail: string;
  readonly foundAt: number;
};

/** Faults in the books that are not yet put right, the oldest first, at most 100. */
export const listViolations = many<FoundViolation>({
  name: 'list-violations',
  text: `
select rule, account_id as "accountId", entry_id as "entryId", task_id as "taskId", detail, found_at as "foundAt"
from ledger_violations order by found_at, rule limit 100`,
});
