import type { Evidence, FinalTask, Wish } from './evidence.ts';
import { catchUpLimitMs, type Outage, startLimitMs } from './outage.ts';

/** Workflows that start together overtake each other. In a random order half of the pairs would be inverted. */
const maxInverted = 0.3;
/** Fewer tasks say nothing about their order. */
const fewest = 16;

type Seen = Pick<Evidence, 'tasks' | 'wishes' | 'damage'>;

/**
 * After an outage of Temporal all that was accepted meanwhile begins soon, and each account's tasks in order of arrival at
 * each API: two of them detect the end of the outage at different times.
 */
export function judgeOutages({ tasks, wishes, damage }: Seen): readonly string[] {
  const wishOf = new Map(wishes.map((wish) => [wish.nonce, wish]));
  return damage.outages.flatMap((outage) => {
    const accepted = tasks.filter(({ createdAt }) => createdAt >= outage.fromMs && createdAt < outage.untilMs);
    if (accepted.length === 0) return ['no task was accepted while Temporal was unavailable'];
    // Tasks that began before Temporal was back were started just before the outage.
    const late = accepted.filter((task) => (task.generationStartedAt ?? 0) >= outage.untilMs);
    const queueOf = ({ client, nonce }: FinalTask) => `account ${client}, API ${apiOf(wishOf.get(nonce))}`;
    const queues = [...new Set(late.map(queueOf))];
    const ordered = (name: string) => late.filter((task) => queueOf(task) === name);
    return [...judgeDelay(outage), ...queues.flatMap((name) => judgeOrder(name, ordered(name)))];
  });
}

function apiOf(wish: Wish | undefined): number | undefined {
  return wish?.answers.find(({ status }) => status === 200)?.api;
}

function judgeDelay({ untilMs, backlog, startedAt, caughtUpAt = Infinity }: Outage): readonly string[] {
  const delays = [
    { lateMs: startedAt - untilMs, limitMs: startLimitMs, done: 'started' },
    { lateMs: caughtUpAt - untilMs, limitMs: catchUpLimitMs, done: 'begun' },
  ];
  return delays
    .filter(({ lateMs, limitMs }) => lateMs > limitMs)
    .map(({ lateMs, done }) => `${lateMs / 1_000} s after Temporal was back, not all of ${backlog} tasks were ${done}`);
}

function judgeOrder(name: string, queue: readonly FinalTask[]): readonly string[] {
  if (queue.length < fewest) return [];
  const begun = queue
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .map(({ generationStartedAt }) => generationStartedAt ?? 0);
  const pairs = begun.flatMap((first, place) => begun.slice(place + 1).map((second) => first > second));
  const inverted = pairs.filter(Boolean).length / pairs.length;
  const percent = Math.round(100 * inverted);
  return inverted <= maxInverted ? [] : [`${name}: ${percent} % of ${queue.length} tasks began in the wrong order`];
}
