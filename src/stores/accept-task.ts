import { rateLeft } from '../domain/rate-limit.ts';
import { fingerprint } from '../domain/task-input.ts';
import type { TaskState } from '../domain/task.ts';
import { acceptTasks, acceptTasksOfOne, acceptValues, explainTask, explainValues } from './accept-statement.ts';
import type { Acceptance, Accepted, CreateRate, NewTask } from './acceptance.ts';
import { type Database, isDeadlock, violatedUniqueConstraint } from './database.ts';

const maxTries = 5;

/**
 * Accepts a task: price, charge, task row and ledger entry in one statement, whose commit is the acceptance. Nothing is charged
 * unless the answer is `accepted`. May be repeated with the same `taskId`: it answers `replayed`.
 */
export async function acceptTask(db: Database, task: NewTask): Promise<Acceptance> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const answer = (await whyNot(db, task)) ?? (await acceptAlone(db, task));
    if (answer !== undefined) return answer;
  }
  throw new Error(`account ${task.accountId} could take a task, and refused it ${maxTries} times`);
}

async function acceptAlone(db: Database, task: NewTask): Promise<Accepted | undefined> {
  try {
    const [answer] = await acceptBatch(db, [task], { waits: true });
    return typeof answer === 'string' ? undefined : answer;
  } catch (error) {
    if (lostRace(error)) return undefined;
    throw error;
  }
}

/** The account's row lock puts rivals in a queue, so the loser of a race learns it after the winner's commit. */
export function lostRace(error: unknown): boolean {
  return violatedUniqueConstraint(error) !== undefined || isDeadlock(error);
}

/** `locked`: somebody else is at work on the account. `left_out`: it repeats another task, or is to be refused. */
export type NotInBatch = 'locked' | 'left_out';

/**
 * Accepts in one statement what it can of some dozens of tasks: of each account the first ones, as many as its balance, its places
 * and its rate allow. The others are not charged. Waits for a locked account only when told to, for tasks of one account. A
 * statement that fails has accepted nothing.
 */
export async function acceptBatch(
  db: Database,
  tasks: readonly NewTask[],
  { waits }: { readonly waits: boolean },
): Promise<readonly (Accepted | NotInBatch)[]> {
  const distinct = withoutTwins(tasks);
  const answers = new Map<NewTask, Accepted | NotInBatch>();
  for (const row of await db.run<AnswerRow & { place: number }>(
    waits ? acceptTasksOfOne : acceptTasks,
    acceptValues(distinct),
  )) {
    const task = distinct[row.place - 1];
    if (task === undefined) throw new Error(`no task has place ${row.place}`);
    const notAccepted = row.refusal === 'account_not_found' ? 'locked' : 'left_out';
    answers.set(task, row.refusal === null ? acceptedFromRow(task, row) : notAccepted);
  }
  return tasks.map((task) => answers.get(task) ?? 'left_out');
}

/** The statement sees none of its own rows: who comes twice must not count twice. */
function withoutTwins(tasks: readonly NewTask[]): readonly NewTask[] {
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
type WhyNotRow = RateRow & { balance: number; max_unfinished_tasks: number } & (
    | { refusal: null }
    | { refusal: 'no_price' | 'too_many_unfinished_tasks' | 'too_fast' }
    | { refusal: 'key_not_active' | 'account_suspended' | 'account_not_found' }
    | { refusal: 'insufficient_credits'; credits: number }
    | ({ refusal: 'known' } & EarlierRow)
  );

/** The earlier answer, or what stands in the way; undefined when nothing does. */
async function whyNot(db: Database, task: NewTask): Promise<Acceptance | undefined> {
  const [row] = await db.run<WhyNotRow>(explainTask, explainValues(task));
  return row === undefined || row.refusal === null ? undefined : refused(task, row);
}

function refused(task: NewTask, row: Exclude<WhyNotRow, { refusal: null }>): Acceptance {
  switch (row.refusal) {
    case 'known':
      return earlierAnswer(task, row);
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
    case 'key_not_active':
    case 'account_suspended':
    case 'account_not_found':
    default:
      return { kind: row.refusal };
  }
}

function earlierAnswer({ param }: NewTask, row: EarlierRow): Acceptance {
  if (row.content_deleted_at !== null) return { kind: 'content_deleted' };
  if (!row.request_sha256.equals(fingerprint(param))) return { kind: 'key_reused' };
  return { kind: 'replayed', taskId: row.task_id, creditsCharged: row.credits_charged, state: row.state };
}
