import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';
import { setTimeout as delay } from 'node:timers/promises';
import { type Acceptance, acceptOrRefuse, acceptTask, type NewTask } from './accept-task.ts';
import { acceptTogether, type NotTogether } from './accept-together.ts';
import { defaultQueueLimits, type QueueLimits } from './connection-queue.ts';
import { type Database, DatabaseAway, DatabaseBusy, wasCancelled } from './database.ts';

/** In one statement at most; a task brings some 90 KB at most, a prompt and ten addresses. */
export const maxTogether = 32;
/** A task alone may have to wait for its account; those behind it wait for it no longer than this. */
const patienceMs = 20;
/** An account that was found locked has a lane of its own for a while, in which its tasks wait; so many at most. */
const ownLaneMs = 1_000;
const maxOwnLanes = 1_000;

/**
 * Accepts tasks as `acceptTask` does. One statement is under way at a time, and what comes meanwhile is accepted by the
 * next one, at a fifth of what each would cost alone; whoever comes alone waits for nobody. What cannot be decided
 * together is decided alone. Throws `DatabaseBusy` for a task that finds too many others waiting, or is not sent in time.
 */
export function createTaskAcceptor(
  db: Database,
  { maxWaiting, waitMs }: QueueLimits = defaultQueueLimits,
): (task: NewTask) => Promise<Acceptance> {
  const shared = createLane((tasks) => acceptAll(db, tasks, { waits: false }), waitMs, patienceMs);
  const own = new LRUCache<string, Lane>({ max: maxOwnLanes, ttl: ownLaneMs, ttlResolution: 0 });
  const waitInOwnLane = (waiting: WaitingTask) => {
    const { accountId } = waiting.task;
    const lane = own.get(accountId) ?? createLane((tasks) => acceptAll(db, tasks, { waits: true }), waitMs);
    own.set(accountId, lane);
    return lane.load(waiting);
  };
  const accept = async (waiting: WaitingTask) => {
    const { task } = waiting;
    const first = await (own.get(task.accountId) ?? shared).load(waiting);
    const answer = first === 'locked' ? await waitInOwnLane(waiting) : first;
    if (answer === 'failed') return acceptTask(db, task);
    return answer === 'left_out' || answer === 'locked' ? acceptOrRefuse(db, task) : answer;
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

type Answer = Acceptance | NotTogether | 'failed';
type AcceptAll = (tasks: readonly NewTask[]) => Promise<readonly Answer[]>;
/** `since` is when it came, by the clock of `performance`. */
type WaitingTask = { readonly task: NewTask; readonly since: number };
type Lane = DataLoader<WaitingTask, Answer>;

/**
 * For a task alone the single statement is the cheaper one. A task that makes the common statement fail must not hurt
 * the others.
 */
async function acceptAll(
  db: Database,
  tasks: readonly NewTask[],
  options: { readonly waits: boolean },
): Promise<readonly Answer[]> {
  const [first, ...others] = tasks;
  if (first !== undefined && others.length === 0) return [await acceptTask(db, first)];
  try {
    return await acceptTogether(db, tasks, options);
  } catch (error) {
    if (error instanceof DatabaseAway && !wasCancelled(error)) throw error;
    return tasks.map(() => 'failed');
  }
}

/** Sends at once when nothing is under way; else gathers tasks, and sends them together when it is over. */
function createLane(acceptAllOf: AcceptAll, waitMs: number, patience?: number): Lane {
  let turn: Promise<unknown> = Promise.resolve();
  let underWay: { readonly over: Promise<unknown>; readonly isAlone: boolean } | undefined;
  const send = async (waiting: readonly WaitingTask[]): Promise<readonly (Answer | Error)[]> => {
    const latest = performance.now() - waitMs;
    const inTime = waiting.filter(({ since }) => since >= latest).map(({ task }) => task);
    const answers = inTime.length === 0 ? Promise.resolve([]) : acceptAllOf(inTime);
    const over = answers
      .catch(() => undefined)
      .then(() => {
        if (underWay?.over === over) underWay = undefined;
      });
    underWay = { over, isAlone: inTime.length === 1 };
    const answerOf = new Map((await answers).map((answer, place) => [inTime[place], answer]));
    return waiting.map(({ task }) => answerOf.get(task) ?? new DatabaseBusy());
  };
  const untilFree = async () => {
    if (underWay === undefined) return;
    const { over, isAlone } = underWay;
    await (patience !== undefined && isAlone ? Promise.race([over, delay(patience)]) : over);
    await endOfLoopTurn();
  };
  const sendInTurn = (sendGathered: () => void) => {
    turn = turn.then(untilFree).then(sendGathered);
  };
  return new DataLoader(send, { cache: false, maxBatchSize: maxTogether, batchScheduleFn: sendInTurn });
}

/** By then everybody is there who came in the same turn of the event loop. */
function endOfLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
