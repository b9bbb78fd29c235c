import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows, one, type StatementRunner } from '../../platform/database/declare-statements.ts';
import { withAccountLock } from './account-lock.ts';
import type { NewTask, Replayed } from './acceptance-contract.ts';
import { unfinishedTaskSql } from '../../catalogue/tasks/task-state-sql.ts';

// Some clients repeat a create whose response they may have lost without an Idempotency-Key. `create_attempts` records the attempts with the
// task that they were answered with. After an uncertain response, that task is refunded only if every attempt has failed
// (refund-uncertain-creates.ts).
//
// Clients that count their attempts may want several videos of one request, and their attempts do not name the video that they are for.
// Each video has at most one attempt of each number, so a create is new only if the attempts of its number need more tasks than there are:
// the tasks that were answered to this number, and those whose client has read them before it could send this number. This never charges
// for more videos than clients requested. `test/properties/repeat-model.ts` states what else holds, and what no server can decide.

export function mayRepeatWithoutKey({ attempt, idempotencyKey }: NewTask): boolean {
  return attempt !== undefined && idempotencyKey === undefined;
}

/**
 * A repeat of an older create is a new task, unless the client states a longer timeout. So is a first attempt that arrives more than a minute
 * after its repeat, and a repeat of a task that has failed.
 */
export const defaultRepeatWindowMs = 60_000;

// An attempt whose commit is retried finds first what an earlier commit of it created or recorded, if that commit went through although
// its response was lost.
const own = `
select id as "taskId", credits_charged as "creditsCharged", state, 1 as rank from tasks
where account_id = $1 and id in ($5, (select task_id from create_attempts where attempt_id = $5 and not is_failed))`;

const isSame = `account_id = $1 and key_id is not distinct from $2 and user_id is not distinct from $3 and request_sha256 = $4`;
const isIdentical = `${isSame}
    and created_at > now() - $6::float8 * interval '1 ms' and state <> 'fail'`;

function valuesOf({ taskId, accountId, by, requestSha256, repeatWindowMs = defaultRepeatWindowMs }: NewTask) {
  return [
    accountId,
    by?.kind === 'key' ? by.keyId : undefined,
    by?.kind === 'person' ? by.userId : undefined,
    requestSha256,
    taskId,
    repeatWindowMs,
  ];
}

type Earlier = Omit<Replayed, 'kind'>;

// Both branches read an index of few rows: the account's unfinished tasks, and the tasks that ended lately.
const findRunningTask = maybeOne<Earlier, [task: NewTask]>({
  name: 'find-running-or-ended-task',
  text: `
select "taskId", "creditsCharged", state from (
  (${own})
  union all
  (select id, credits_charged, state, 2 from tasks where ${isSame} and ${unfinishedTaskSql} order by created_at desc, id desc limit 1)
  union all
  (select id, credits_charged, state, 3 from tasks
  where ${isSame} and state = 'success' and completed_at > now() - $6::float8 * interval '1 ms'
  order by completed_at desc, id desc limit 1)
) attempts order by rank limit 1`,
  values: valuesOf,
});

const findMergedTask = maybeOne<Earlier, [task: NewTask]>({
  name: 'find-merged-task',
  text: `
select "taskId", "creditsCharged", state from (
  (${own})
  union all
  (select id, credits_charged, state, 2 from tasks where ${isIdentical} order by created_at desc, id desc limit 1)
) attempts order by rank limit 1`,
  values: valuesOf,
});

// `latest`: the highest number of an attempt that was answered with the task. A task whose creator is not recorded was created by a client
// that does not count, and counts as that of a first attempt. Of several tasks, one that was not read is preferred, then one that
// no attempt of this number got, then the one whose attempts are closest before this one.
const findCountedTask = maybeOne<Earlier, [task: NewTask]>({
  name: 'find-task-of-attempts',
  text: `
with identical as (
  select id, credits_charged, state, created_at, is_read, coalesce(latest, 0) as latest,
    same + case when $7 = 0 and not is_counted then 1 else 0 end as same
  from tasks cross join lateral (
    select max(number) as latest, count(*) filter (where number = $7) as same,
      coalesce(bool_or(attempt_id = id), false) as is_counted, coalesce(bool_or(is_read), false) as is_read
    from create_attempts where task_id = id and number is not null
  ) attempts
  where ${isIdentical}
)
select "taskId", "creditsCharged", state from (
  (${own})
  union all
  (select id, credits_charged, state, 2 from identical
  where (select sum(same) + count(*) filter (where is_read and latest < $7) < count(*) from identical)
  order by is_read, same, latest >= $7, latest desc, created_at desc, id desc limit 1)
) attempts order by rank limit 1`,
  values: (task) => [...valuesOf(task), task.attempt],
});

/** Finds the task with which an attempt must be answered; undefined if it is to create one. */
export function findTaskToAnswerAttempt(db: StatementRunner, task: NewTask): Promise<Earlier | undefined> {
  if (task.attempt === 'running') return findRunningTask(db, task);
  return task.attempt === 'merged' ? findMergedTask(db, task) : findCountedTask(db, task);
}

// The update leaves `is_failed` unchanged: this may be a late statement of an attempt that is already recorded as failed.
const recordAnswer = noRows<[attemptId: string, taskId: string, number: number | undefined]>({
  name: 'record-answered-attempt',
  text: `
insert into create_attempts (attempt_id, task_id, number) values ($1, $2, $3)
on conflict (attempt_id) do update set task_id = excluded.task_id, number = excluded.number`,
});

/**
 * Answers an attempt with the task of another attempt, if there is one. The caller holds the account's lock, and the answer counts once
 * its transaction commits. No lock of the task is taken: the end of a task locks the task before the account.
 */
export async function answerWithEarlierTask(db: StatementRunner, task: NewTask): Promise<Replayed | undefined> {
  const found = await findTaskToAnswerAttempt(db, task);
  if (found === undefined) return undefined;
  if (found.taskId !== task.taskId) await recordAnswer(db, task.taskId, found.taskId, numberOf(task));
  return { kind: 'replayed', ...found };
}

/** Records the attempt that has created its task, in the transaction that accepts it. */
export async function recordAttemptThatCreatedTask(db: StatementRunner, task: NewTask): Promise<void> {
  const number = numberOf(task);
  if (number !== undefined) await recordAnswer(db, task.taskId, task.taskId, number);
}

function numberOf({ attempt }: NewTask): number | undefined {
  return typeof attempt === 'number' ? attempt : undefined;
}

/** Records that a client has read the ids of these tasks with the key that created them, so that it repeats none of their creates. */
export const recordTasksSeen = noRows<[taskIds: readonly string[], keyId: string]>({
  name: 'record-read-tasks',
  text: `
update create_attempts set is_read = true where attempt_id in (
  select attempt_id from create_attempts join tasks on tasks.id = attempt_id
  where attempt_id = any($1::uuid[]) and task_id = attempt_id and number is not null and not is_read and key_id = $2
  order by attempt_id for update of create_attempts)`,
});

/** Answers an attempt as `answerWithEarlierTask` does, and takes the lock for it. */
export function lockAndAnswerWithEarlierTask(
  db: Pick<Database, 'transaction' | 'runExclusive'>,
  task: NewTask,
): Promise<Replayed | undefined> {
  return withAccountLock(db, task.accountId, (transaction) => answerWithEarlierTask(transaction, task));
}

/** Finds the task that an attempt created, or that it was answered with. */
export const findTaskByAttemptId = maybeOne<
  { readonly taskId: string; readonly accountId: string },
  [attemptId: string]
>({
  name: 'find-task-of-attempt',
  text: `
select id as "taskId", account_id as "accountId" from tasks where id = coalesce(
  (select id from tasks where id = $1), (select task_id from create_attempts where attempt_id = $1))`,
});

/** Records that the response to an attempt stated that nothing is charged. */
export const recordFailedAttempt = noRows<[attemptId: string, taskId: string]>({
  name: 'record-failed-attempt',
  text: `
insert into create_attempts (attempt_id, task_id, is_failed) values ($1, $2, true)
on conflict (attempt_id) do update set task_id = excluded.task_id, is_failed = true`,
});

/** True if the attempt that created the task, or another one that was answered with it, is not recorded as failed. */
export const hasAttemptNotFailed = one<{ readonly isAnswered: boolean }, [taskId: string]>({
  name: 'has-answered-attempt',
  text: `
select not exists (select from create_attempts where attempt_id = $1 and is_failed)
  or exists (select from create_attempts where task_id = $1 and not is_failed) as "isAnswered"`,
});
