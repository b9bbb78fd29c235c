import { LRUCache } from 'lru-cache';
import { acceptTask, acceptBatch, lostRace, type NotInBatch } from './accept-task.ts';
import type { Acceptance, Accepted, NewTask } from './acceptance.ts';
import { defaultQueueLimits, type QueueLimits } from './connection-queue.ts';
import { type Database, DatabaseUnavailable, DatabaseBusy, wasCancelled } from './database.ts';
import { createBatcher } from './batch.ts';

/** In one statement at most; a task brings some 90 KB at most, a prompt and ten addresses. */
export const maxBatchSize = 32;
/** An account that was found locked has a queue of its own for a while, in which its tasks wait; so many at most. */
const ownQueueMs = 1_000;
const maxOwnQueues = 1_000;

/**
 * Accepts tasks as `acceptTask` does, all that come while one statement runs with the next one, at a fifth of the cost. Tasks of an
 * account that is locked wait in a queue of their own; what cannot be decided together is decided alone. Throws `DatabaseBusy` for
 * a task that finds too many others waiting, or is not sent in time.
 */
export function createTaskAcceptor(
  db: Database,
  { maxWaiting, waitMs }: QueueLimits = defaultQueueLimits,
): (task: NewTask) => Promise<Acceptance> {
  const createBatchQueue = (options: { readonly waits: boolean }): BatchQueue =>
    createBatcher((waiting) => acceptInTime(db, waiting, { ...options, waitMs }), { maxBatchSize, maxStatements: 1 });
  const shared = createBatchQueue({ waits: false });
  const own = new LRUCache<string, BatchQueue>({ max: maxOwnQueues, ttl: ownQueueMs, ttlResolution: 0 });
  const waitInOwnQueue = (waiting: WaitingTask) => {
    const { accountId } = waiting.task;
    const queue = own.get(accountId) ?? createBatchQueue({ waits: true });
    own.set(accountId, queue);
    return queue(waiting);
  };
  const accept = async (waiting: WaitingTask) => {
    const { task } = waiting;
    const first = await (own.get(task.accountId) ?? shared)(waiting);
    const answer = first === 'locked' ? await waitInOwnQueue(waiting) : first;
    return typeof answer === 'string' ? acceptTask(db, task) : answer;
  };
  let count = 0;
  return async (task) => {
    if (count >= maxWaiting) throw new DatabaseBusy();
    count += 1;
    try {
      return await accept({ task, since: performance.now() });
    } finally {
      count -= 1;
    }
  };
}

type Answer = Accepted | NotInBatch;
/** `since` is when it came, by the clock of `performance`. */
type WaitingTask = { readonly task: NewTask; readonly since: number };
type BatchQueue = (waiting: WaitingTask) => Promise<Answer>;

async function acceptInTime(
  db: Database,
  waiting: readonly WaitingTask[],
  { waits, waitMs }: { readonly waits: boolean; readonly waitMs: number },
): Promise<readonly (Answer | Error)[]> {
  const latest = performance.now() - waitMs;
  const inTime = waiting.filter(({ since }) => since >= latest).map(({ task }) => task);
  const answers = inTime.length === 0 ? [] : await acceptAll(db, inTime, { waits });
  const answerOf = new Map(answers.map((answer, place) => [inTime[place], answer]));
  return waiting.map(({ task }) => answerOf.get(task) ?? new DatabaseBusy());
}

/** A task that makes the common statement fail must not hurt the others; alone, its fault is its own, but for a lost race. */
async function acceptAll(
  db: Database,
  tasks: readonly NewTask[],
  options: { readonly waits: boolean },
): Promise<readonly Answer[]> {
  try {
    return await acceptBatch(db, tasks, options);
  } catch (error) {
    const isOwnFault = tasks.length === 1 && !lostRace(error);
    if (isOwnFault || (error instanceof DatabaseUnavailable && !wasCancelled(error))) throw error;
    return tasks.map(() => 'left_out');
  }
}
