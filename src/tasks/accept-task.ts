import { lockAccount } from '../accounts/accounts.ts';
import { maybeOne } from '../platform/database/statement.ts';
import { rateLeft } from '../platform/rate-limit.ts';
import type { TaskState } from './task.ts';
import { acceptTasks, acceptTasksOfOne, acceptValues, explainTask, explainValues } from './accept-statement.ts';
import type { Acceptance, Accepted, CreateRate, NewTask } from './acceptance.ts';
import { type Database, isDeadlock, violatedUniqueConstraint } from '../platform/database/database.ts';

const maxTries = 5;

/**
 * Accepts one task, outside a batch. One statement writes its price, charge, row and ledger entry, and its commit is the acceptance;
 * another, which only reads, explains a refusal. Only `accepted` means a charge. A repeated call with the same `taskId` returns
 * `replayed`.
 */
export async function acceptTask(db: Pick<Database, 'run'>, task: NewTask): Promise<Acceptance> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const acceptance = (await explainRefusal(db, task)) ?? (await acceptAlone(db, task));
    if (acceptance !== undefined) return acceptance;
  }
  throw new Error(`task ${task.taskId} was neither accepted nor refused in ${maxTries} tries`);
}

async function acceptAlone(db: Pick<Database, 'run'>, task: NewTask): Promise<Accepted | undefined> {
  try {
    const [answer] = await acceptBatch(db, [task], { waits: true });
    return typeof answer === 'string' ? undefined : answer;
  } catch (error) {
    if (lostRace(error)) return undefined;
    throw error;
  }
}

/** A repeat that comes later is a new task. */
const repeatWindow = "interval '1 minute'";

const findRepeated = maybeOne<EarlierRow, [task: NewTask]>({
  name: 'find-repeated-task',
  text: `
select id as task_id, credits_charged, request_sha256, state, content_deleted_at from tasks
where account_id = $1 and key_id is not distinct from $2 and user_id is not distinct from $3 and request_sha256 = $4
  and created_at > now() - ${repeatWindow}
order by created_at desc, id desc limit 1`,
  values: ({ accountId, by, requestSha256 }) => [
    accountId,
    by?.kind === 'key' ? by.keyId : undefined,
    by?.kind === 'person' ? by.userId : undefined,
    requestSha256,
  ],
});

/**
 * Accepts a task unless the same maker created one with the same request in the last minute. The lock on the account makes it wait for a
 * first attempt that is being accepted, and lets only one of several repeats be accepted.
 */
export function acceptRepeat(db: Pick<Database, 'transaction'>, task: NewTask): Promise<Acceptance> {
  return db.transaction(async (run) => {
    await lockAccount({ run }, task.accountId);
    const earlier = await findRepeated({ run }, task);
    return earlier === undefined ? acceptTask({ run }, task) : earlierAcceptance(task, earlier);
  });
}

/** True if another process accepted the same task or idempotency key first. The next read finds its task. */
export function lostRace(error: unknown): boolean {
  return violatedUniqueConstraint(error) !== undefined || isDeadlock(error);
}

/** `locked`: another process has locked the account. `left_out`: the task repeats another one or is refused. */
export type NotInBatch = 'locked' | 'left_out';

/**
 * Accepts as many of some dozens of tasks as the rules allow, in one statement. The others are not charged. With `waits` it waits for a
 * locked account, which is for tasks of one account only. A failed statement has accepted nothing.
 */
export async function acceptBatch(
  db: Pick<Database, 'run'>,
  tasks: readonly NewTask[],
  { waits }: { readonly waits: boolean },
): Promise<readonly (Accepted | NotInBatch)[]> {
  const distinct = withoutDuplicates(tasks);
  const answers = new Map<NewTask, Accepted | NotInBatch>();
  const statement = waits ? acceptTasksOfOne : acceptTasks;
  for (const row of await db.run<AnswerRow & { position: number }>(statement, acceptValues(distinct))) {
    const task = distinct[row.position - 1];
    if (task === undefined) throw new Error(`accept-tasks returned the unknown position ${row.position}`);
    const notAccepted = row.refusal === 'account_not_found' ? 'locked' : 'left_out';
    answers.set(task, row.refusal === null ? acceptedFromRow(task, row) : notAccepted);
  }
  return tasks.map((task) => answers.get(task) ?? 'left_out');
}

/** Duplicates are removed here, because a statement cannot read the rows that it inserts. */
function withoutDuplicates(tasks: readonly NewTask[]): readonly NewTask[] {
  const seen = new Set<string>();
  return tasks.filter(({ taskId, accountId, idempotencyKey }) => {
    const names = idempotencyKey === undefined ? [taskId] : [taskId, `${accountId} ${idempotencyKey}`];
    if (names.some((name) => seen.has(name))) return false;
    for (const name of names) seen.add(name);
    return true;
  });
}

type AnswerRow = RateRow & ({ refusal: null; credits: number } | { refusal: string });
type RateRow = { quota: number | null; window_ms: number | null; due_in_ms: number | null };

function acceptedFromRow({ taskId }: NewTask, row: RateRow & { credits: number }): Accepted {
  const rate = createRateOf(row);
  return { kind: 'accepted', taskId, creditsCharged: row.credits, ...(rate !== undefined && { rate }) };
}

function createRateOf({ quota, window_ms: windowMs, due_in_ms: dueInMs }: RateRow): CreateRate | undefined {
  if (quota === null || windowMs === null) return undefined;
  const limit = { quota, windowMs };
  return { limit, left: rateLeft(limit, dueInMs ?? 0) };
}

type EarlierRow = {
  task_id: string;
  credits_charged: number;
  request_sha256: Buffer;
  state: TaskState;
  content_deleted_at: number | null;
};
type ExplainedRow = RateRow & { balance: number; max_unfinished_tasks: number } & (
    | { refusal: null }
    | { refusal: 'no_price' | 'too_many_unfinished_tasks' | 'too_fast' }
    | { refusal: 'key_inactive' | 'account_suspended' | 'account_not_found' }
    | { refusal: 'insufficient_credits'; credits: number }
    | ({ refusal: 'known' } & EarlierRow)
  );

/** Returns undefined if the task can be accepted now. */
async function explainRefusal(db: Pick<Database, 'run'>, task: NewTask): Promise<Acceptance | undefined> {
  const [row] = await db.run<ExplainedRow>(explainTask, explainValues(task));
  if (row === undefined || row.refusal === null) return undefined;
  switch (row.refusal) {
    case 'known':
      return earlierAcceptance(task, row);
    case 'insufficient_credits':
      return { kind: row.refusal, required: row.credits, balance: row.balance };
    case 'too_many_unfinished_tasks':
      return { kind: row.refusal, limit: row.max_unfinished_tasks };
    case 'too_fast': {
      const rate = createRateOf(row);
      if (rate === undefined) throw new Error(`account ${task.accountId} is too fast without a rate`);
      return { kind: row.refusal, rate };
    }
    case 'no_price':
      throw new Error(`no price of ${task.param.model} is in force, not even in the catalogue`);
    case 'key_inactive':
    case 'account_suspended':
    case 'account_not_found':
    default:
      return { kind: row.refusal };
  }
}

function earlierAcceptance({ requestSha256 }: NewTask, row: EarlierRow): Acceptance {
  if ((row.content_deleted_at ?? null) !== null) return { kind: 'content_deleted' };
  if (!row.request_sha256.equals(requestSha256)) return { kind: 'key_reused' };
  return { kind: 'replayed', taskId: row.task_id, creditsCharged: row.credits_charged, state: row.state };
}
