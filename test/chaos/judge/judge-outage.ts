import { taskWorkflowId } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import type { Evidence, FinalTask, Wish } from './evidence.ts';
import { type Outage, stallLimitOf } from '../faults/temporal-outage.ts';

/** Two starts that are requested together overtake each other. In a random order half of the pairs would be inverted. */
const maxInvertedStarts = 0.15;
/** Fewer tasks do not show whether their starts are in order. */
const fewestStarts = 16;
/** Workflows that were started together overtake each other on their way to a slot of their provider. */
const maxInvertedGenerations = 0.3;
/** Fewer pairs do not show whether generation begins in order. */
const fewestPairs = 60;

type Seen = Pick<Evidence, 'tasks' | 'wishes' | 'damage' | 'kindJobs'>;

/** When a task was accepted, and when the next thing happened to it, in Unix milliseconds. */
type Step = { readonly createdAt: number; readonly at: number };

/**
 * After an outage of Temporal all that was accepted meanwhile begins soon. The workflows of an account are started in order of arrival
 * at each API, because two APIs detect the end of the outage at different times. Generation begins in this order only among tasks of
 * the same provider: each has its own slots, so that a task of a busy provider is overtaken by those of others.
 */
export function judgeOutages({ tasks, wishes, damage, kindJobs }: Seen): readonly string[] {
  const wishOf = new Map(wishes.map((wish) => [wish.nonce, wish]));
  return damage.outages.flatMap((outage) => {
    const accepted = tasks.filter(({ createdAt }) => createdAt >= outage.fromMs && createdAt < outage.untilMs);
    if (accepted.length === 0) return ['no task was accepted while Temporal was unavailable'];
    const queueOf = ({ client, nonce }: FinalTask) => `account ${client}, API ${apiOf(wishOf.get(nonce))}`;
    return [
      ...judgeDelay(outage),
      ...judgeStarts(outage, accepted, queueOf),
      // All models of the preview provider share its slots.
      ...judgeGenerations(outage, accepted, (task) =>
        [queueOf(task), kindJobs.has(task.model) ? task.model : 'preview'].join(),
      ),
    ];
  });
}

function apiOf(wish: Wish | undefined): number | undefined {
  return wish?.answers.find(({ status }) => status === 200)?.api;
}

function judgeDelay({ untilMs, backlog, usualMs, startedAt, stalledMs }: Outage): readonly string[] {
  const stalls = [
    { stallMs: longestPause(untilMs, [...startedAt.values()]), done: 'started' },
    { stallMs: stalledMs, done: 'begun' },
  ];
  return stalls
    .filter(({ stallMs }) => stallMs > stallLimitOf({ usualMs }))
    .map(
      ({ stallMs, done }) => `of ${backlog} tasks that waited for Temporal, none was ${done} for ${stallMs / 1_000} s`,
    );
}

/** The longest time without a start, from the end of the outage to the last of them; infinite if there are none. */
function longestPause(untilMs: number, startedAt: readonly number[]): number {
  if (startedAt.length === 0) return Infinity;
  const times = [untilMs, ...startedAt.filter((at) => at > untilMs)].toSorted((a, b) => a - b);
  return Math.max(...times.map((at, index) => at - (times[index - 1] ?? at)));
}

type NameOf = (task: FinalTask) => string;

function judgeStarts({ startedAt, untilMs }: Outage, tasks: readonly FinalTask[], queueOf: NameOf): readonly string[] {
  const queues = groupSteps(tasks, queueOf, ({ taskId }) => startedAt.get(taskWorkflowId(taskId)), untilMs);
  return [...queues].flatMap(([name, steps]) => {
    if (steps.length < fewestStarts) return [];
    const inverted = shareOf(pairsOf(steps));
    if (inverted <= maxInvertedStarts) return [];
    return [`${name}: ${percent(inverted)} of the pairs of ${steps.length} tasks were started in the wrong order`];
  });
}

function judgeGenerations({ untilMs }: Outage, tasks: readonly FinalTask[], groupOf: NameOf): readonly string[] {
  const groups = groupSteps(tasks, groupOf, ({ generationStartedAt }) => generationStartedAt ?? undefined, untilMs);
  // Most groups are too small to be judged alone.
  const pairs = [...groups.values()].flatMap(pairsOf);
  const inverted = shareOf(pairs);
  if (pairs.length < fewestPairs || inverted <= maxInvertedGenerations) return [];
  return [`${percent(inverted)} of ${pairs.length} pairs of tasks of one provider began in the wrong order`];
}

/** What was done before Temporal was back belongs to a workflow that was started just before the outage. */
function groupSteps(
  tasks: readonly FinalTask[],
  nameOf: NameOf,
  timeOf: (task: FinalTask) => number | undefined,
  untilMs: number,
): ReadonlyMap<string, readonly Step[]> {
  const groups = new Map<string, Step[]>();
  for (const task of tasks) {
    const at = timeOf(task);
    if (at === undefined || at < untilMs) continue;
    const name = nameOf(task);
    groups.set(name, [...(groups.get(name) ?? []), { createdAt: task.createdAt, at }]);
  }
  return groups;
}

/** For each pair of steps, whether the task that was accepted first came second. */
function pairsOf(steps: readonly Step[]): readonly boolean[] {
  const times = steps.toSorted((a, b) => a.createdAt - b.createdAt).map(({ at }) => at);
  return times.flatMap((first, index) => times.slice(index + 1).map((second) => first > second));
}

function shareOf(pairs: readonly boolean[]): number {
  return pairs.filter(Boolean).length / pairs.length;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
