import { LRUCache } from 'lru-cache';
import { acceptBatch, isLostRace, type NotInBatch } from './accept-statement.ts';
import { acceptTaskAlone } from './accept-one-task.ts';
import { withAccountLock } from './account-lock.ts';
import { answerWithEarlierTask, mayRepeatWithoutKey, recordAttemptThatCreatedTask } from './answer-repeated-creates.ts';
import type { CreateOutcome, Accepted, NewTask } from './acceptance-contract.ts';
import { createBatcher } from '../../platform/database/batch-requests.ts';
import {
  defaultConnectionQueueLimits,
  type ConnectionQueueLimits,
} from '../../platform/database/connection-queue-limits.ts';
import {
  type Database,
  DatabaseBusyError,
  DatabaseUnavailableError,
  wasCancelled,
} from '../../platform/database/database.ts';

/** Bounds a statement to about 3 MB, because a task has up to 90 KB. */
export const maxBatchSize = 32;
/** A locked account gets a queue of its own for this time. Then its tasks try the shared queue again. */
const ownQueueMs = 1_000;
const maxOwnQueues = 1_000;

/**
 * Accepts tasks as `acceptTaskAlone` does, with a fifth of the statements: tasks that arrive while one runs share the next one. Tasks of a
 * locked account wait in a queue of that account, and refused ones are explained one by one. Throws `DatabaseBusyError` if too many tasks
 * wait, or if a task is not sent in time.
 */
export function createTaskAcceptor(
  db: Database,
  { maxWaiting, waitMs }: ConnectionQueueLimits = defaultConnectionQueueLimits,
): (task: NewTask) => Promise<CreateOutcome> {
  const createQueue = (options: { readonly waits: boolean }): BatchQueue =>
    createBatcher((waiting) => acceptInTime(db, waiting, { ...options, waitMs }), { maxBatchSize, maxStatements: 1 });
  const shared = createQueue({ waits: false });
  const own = new LRUCache<string, BatchQueue>({ max: maxOwnQueues, ttl: ownQueueMs, ttlResolution: 0 });
  const waitInOwnQueue = (waiting: WaitingTask) => {
    const { accountId } = waiting.task;
    const queue = own.get(accountId) ?? createQueue({ waits: true });
    own.set(accountId, queue);
    return queue(waiting);
  };
  const accept = async (waiting: WaitingTask) => {
    const { task } = waiting;
    const first = await (own.get(task.accountId) ?? shared)(waiting);
    const answer = first === 'locked' ? await waitInOwnQueue(waiting) : first;
    return typeof answer === 'string' ? acceptTaskAlone(db, task) : answer;
  };
  let count = 0;
  return async (task) => {
    if (count >= maxWaiting) throw new DatabaseBusyError();
    count += 1;
    try {
      if (mayRepeatWithoutKey(task)) return await acceptAttempt(db, task);
      return await accept({ task, since: performance.now() });
    } finally {
      count -= 1;
    }
  };
}

/**
 * Accepts a task unless another attempt at the same create has been accepted. The lock on the account makes attempts wait for each other.
 */
function acceptAttempt(db: Database, task: NewTask): Promise<CreateOutcome> {
  return withAccountLock(db, task.accountId, async (transaction) => {
    const answer = await answerWithEarlierTask(transaction, task);
    if (answer !== undefined) return answer;
    const outcome = await acceptTaskAlone(transaction, task);
    if (outcome.kind === 'accepted') await recordAttemptThatCreatedTask(transaction, task);
    return outcome;
  });
}

type Answer = Accepted | NotInBatch;
/** `since`: its arrival, by the clock of `performance`. */
type WaitingTask = { readonly task: NewTask; readonly since: number };
type BatchQueue = (waiting: WaitingTask) => Promise<Answer>;

/** Tasks that have waited for too long get `DatabaseBusyError`, because their clients may have disconnected. */
async function acceptInTime(
  db: Database,
  waiting: readonly WaitingTask[],
  { waits, waitMs }: { readonly waits: boolean; readonly waitMs: number },
): Promise<readonly (Answer | Error)[]> {
  const latest = performance.now() - waitMs;
  const inTime = waiting.filter(({ since }) => since >= latest).map(({ task }) => task);
  const answers = inTime.length === 0 ? [] : await acceptAll(db, inTime, { waits });
  const answerOf = new Map(answers.map((answer, index) => [inTime[index], answer]));
  return waiting.map(({ task }) => answerOf.get(task) ?? new DatabaseBusyError());
}

/** If one task makes the shared statement fail, each is tried alone. */
async function acceptAll(
  db: Database,
  tasks: readonly NewTask[],
  options: { readonly waits: boolean },
): Promise<readonly Answer[]> {
  try {
    return await acceptBatch(db, tasks, options);
  } catch (error) {
    const failedAlone = tasks.length === 1 && !isLostRace(error);
    if (failedAlone || (error instanceof DatabaseUnavailableError && !wasCancelled(error))) throw error;
    return tasks.map(() => 'not_accepted');
  }
}
