import type { Database } from '../platform/database/database.ts';
import { maybeOne, none, one, type Runner } from '../platform/database/statement.ts';
import { withAccountLock } from './account-lock.ts';
import type { NewTask, Replayed } from './create-outcome.ts';

// Some clients repeat a create whose response they may have lost without an
// Idempotency-Key. All attempts at a create become one task, whose id is that
// of the attempt that was accepted. The other attempts are recorded in
// `create_attempts` with the task that they were answered with. After an
// uncertain response, that task is refunded only if every attempt has failed
// (uncertain-creates.ts).

export function isAttempt({ attempt, idempotencyKey }: NewTask): boolean {
  return attempt !== undefined && idempotencyKey === undefined;
}

/** A repeat of an older create is a new task, unless the client states a longer timeout. So is one of a task that has failed. */
const defaultWindowMs = 60_000;

// A first attempt that a repeat has overtaken finds the repeat's task: its id is later than that of the first attempt, because ids are
// made at the arrival of a request. Other tasks with the same request are creates of their own. An attempt whose commit is retried finds
// first what an earlier commit of it created or recorded, if that commit went through although its response was lost.
export const findTaskOfAttempts = maybeOne<Omit<Replayed, 'kind'>, [task: NewTask]>({
  name: 'find-task-of-attempts',
  text: `
select "taskId", "creditsCharged", state from (
  (select id as "taskId", credits_charged as "creditsCharged", state, 1 as rank from tasks
  where account_id = $1 and id in ($6, (select task_id from create_attempts where attempt_id = $6 and not is_failed)))
  union all
  (select id, credits_charged, state, 2 from tasks
  where account_id = $1 and key_id is not distinct from $2 and user_id is not distinct from $3 and request_sha256 = $4
    and created_at > now() - $7::float8 * interval '1 ms' and state <> 'fail' and ($5 or (is_repeat and id > $6))
  order by created_at desc, id desc limit 1)
) attempts order by rank limit 1`,
  values: ({ taskId, accountId, by, requestSha256, attempt, repeatWindowMs = defaultWindowMs }) => [
    accountId,
    by?.kind === 'key' ? by.keyId : undefined,
    by?.kind === 'person' ? by.userId : undefined,
    requestSha256,
    attempt === 'repeat',
    taskId,
    repeatWindowMs,
  ],
});

// The update leaves `is_failed` unchanged: this may be a late statement of an
// attempt that is already recorded as failed.
const recordAnswer = none<[attemptId: string, taskId: string]>({
  name: 'record-answered-attempt',
  text: `
insert into create_attempts (attempt_id, task_id) values ($1, $2)
on conflict (attempt_id) do update set task_id = excluded.task_id`,
});

/**
 * Answers an attempt with the task of another attempt, if there is one. The caller holds the account's lock, and the answer counts once
 * its transaction commits. No lock of the task is taken: the end of a task locks the task before the account.
 */
export async function answerUnderLock(db: Runner, task: NewTask): Promise<Replayed | undefined> {
  const found = await findTaskOfAttempts(db, task);
  if (found === undefined) return undefined;
  if (found.taskId !== task.taskId) await recordAnswer(db, task.taskId, found.taskId);
  return { kind: 'replayed', ...found };
}

/** Answers an attempt as `answerUnderLock` does, and takes the lock for it. */
export function answerAttempt(
  db: Pick<Database, 'transaction' | 'runExclusive'>,
  task: NewTask,
): Promise<Replayed | undefined> {
  return withAccountLock(db, task.accountId, (transaction) => answerUnderLock(transaction, task));
}

/** Finds the task that an attempt created, or that it was answered with. */
export const findTaskOfAttempt = maybeOne<{ readonly taskId: string; readonly accountId: string }, [attemptId: string]>(
  {
    name: 'find-task-of-attempt',
    text: `
select id as "taskId", account_id as "accountId" from tasks where id = coalesce(
  (select id from tasks where id = $1), (select task_id from create_attempts where attempt_id = $1))`,
  },
);

/** Records that the response to an attempt stated that nothing is charged. */
export const recordFailedAttempt = none<[attemptId: string, taskId: string]>({
  name: 'record-failed-attempt',
  text: `
insert into create_attempts (attempt_id, task_id, is_failed) values ($1, $2, true)
on conflict (attempt_id) do update set task_id = excluded.task_id, is_failed = true`,
});

/** True if the attempt that created the task, or another one that was answered with it, is not recorded as failed. */
export const hasAnswer = one<{ readonly isAnswered: boolean }, [taskId: string]>({
  name: 'has-answered-attempt',
  text: `
select not exists (select from create_attempts where attempt_id = $1 and is_failed)
  or exists (select from create_attempts where task_id = $1 and not is_failed) as "isAnswered"`,
});
