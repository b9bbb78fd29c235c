// Several videos of one request, whose creates an SDK repeats. The model of what happens on the way, and of what the server decides.
//
// A take is a video that a client wants. Its attempts are numbered from 0. An attempt is lost on the way, or is held and arrives
// later, or its answer is lost; after each of these the client sends the next one. The attempts of identical takes differ by nothing but
// their number, so a server cannot decide:
//
// - for which take an attempt is, so two takes may be answered with one video after a request was lost on the way or held;
// - whether the first attempt after a repeat is that repeat's, which was held, or that of another take. The rule takes it for the repeat's,
//   because a task would be charged that no client receives;
// - which of several answers was lost, unless the clients that got theirs have read their videos.
//
// `test/properties/any-repeated-creates.test.ts` states what holds nevertheless.

export type ModelTask = {
  /** The numbers of the attempts that were answered with it. */
  readonly numbers: readonly number[];
  readonly isRead: boolean;
};

const latestOf = ({ numbers }: ModelTask) => Math.max(...numbers);
const countOf = (task: ModelTask, number: number) => task.numbers.filter((other) => other === number).length;

/** The rule of `src/tasks/accept/answer-repeated-creates.ts`: the task that answers an attempt; undefined if the attempt creates one. */
export function taskForAttempt(tasks: readonly ModelTask[], number: number): number | undefined {
  const needed = tasks.reduce((sum, task) => {
    const isOfAnother = task.isRead && latestOf(task) < number;
    return sum + countOf(task, number) + (isOfAnother ? 1 : 0);
  }, 0);
  if (needed >= tasks.length) return undefined;
  const ranks = tasks.map((task, index) => {
    const latest = latestOf(task);
    return { index, rank: [Number(task.isRead), countOf(task, number), Number(latest >= number), -latest, -index] };
  });
  return ranks.toSorted((a, b) => compare(a.rank, b.rank))[0]?.index;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing === -1 ? 0 : (a[differing] ?? 0) - (b[differing] ?? 0);
}

/** What happens to an attempt: its answer arrives or is lost, or it is lost itself, or it is held and arrives later. */
export type Fate = 'answered' | 'answer_lost' | 'lost' | 'held';
export type Step =
  | { readonly kind: 'attempt'; readonly take: number; readonly fate: Fate }
  | { readonly kind: 'arrival'; readonly take: number }
  | { readonly kind: 'read'; readonly take: number };

export type Take = {
  /** The number of its next attempt. */
  readonly next: number;
  readonly held: readonly number[];
  readonly hasArrived: boolean;
  /** The task whose id its client has got. */
  readonly task?: number;
};
export type World = { readonly tasks: readonly ModelTask[]; readonly takes: readonly Take[] };

export function newWorld(takes: number): World {
  return { tasks: [], takes: Array.from({ length: takes }, () => ({ next: 0, held: [], hasArrived: false })) };
}

const isOver = (take: Take, maxAttempts: number) => take.task !== undefined || take.next === maxAttempts;

/** The number of the attempt that arrives with a step; undefined if none does. */
export function arrivingNumber(world: World, step: Step): number | undefined {
  const take = world.takes[step.take];
  if (step.kind === 'arrival') return take?.held[0];
  return step.kind === 'attempt' && step.fate !== 'lost' && step.fate !== 'held' ? take?.next : undefined;
}

/** The world after a step. `answer`: what the server decided about the attempt that arrives, by default what the rule does. */
export function after(world: World, step: Step, answer = decide(world, step)): World {
  const { take: index } = step;
  const take = world.takes[index];
  if (take === undefined) throw new Error(`no take ${index}`);
  const number = arrivingNumber(world, step);
  const answered = number === undefined ? world : answerWith(world, number, answer ?? world.tasks.length);
  const isHeld = step.kind === 'attempt' && step.fate === 'held';
  const changed: Take = {
    next: take.next + (step.kind === 'attempt' ? 1 : 0),
    held: step.kind === 'arrival' ? take.held.slice(1) : [...take.held, ...(isHeld ? [take.next] : [])],
    hasArrived: take.hasArrived || number !== undefined,
    ...(take.task !== undefined && { task: take.task }),
    ...(step.kind === 'attempt' && step.fate === 'answered' && { task: answer ?? world.tasks.length }),
  };
  const tasks = answered.tasks.map((task, at) =>
    step.kind === 'read' && at === take.task ? { ...task, isRead: true } : task,
  );
  return { tasks, takes: world.takes.with(index, changed) };
}

function decide(world: World, step: Step): number | undefined {
  const number = arrivingNumber(world, step);
  return number === undefined ? undefined : taskForAttempt(world.tasks, number);
}

function answerWith(world: World, number: number, index: number): World {
  const task = world.tasks[index] ?? { numbers: [], isRead: false };
  const tasks = [...world.tasks];
  tasks[index] = { ...task, numbers: [...task.numbers, number] };
  return { ...world, tasks };
}

export type Weather = { readonly maxAttempts: number; readonly fates: readonly Fate[]; readonly readsAtOnce: boolean };

/** Every step that can follow. With `readsAtOnce`, a client that has got an id reads its task before an attempt with a higher number arrives. */
export function nextSteps(world: World, { maxAttempts, fates, readsAtOnce }: Weather): readonly Step[] {
  const steps = world.takes.flatMap((take, index): Step[] => {
    const arrivals: Step[] = take.held.length === 0 ? [] : [{ kind: 'arrival', take: index }];
    const isUnread = take.task !== undefined && world.tasks[take.task]?.isRead === false;
    const reads: Step[] = isUnread ? [{ kind: 'read', take: index }] : [];
    if (isOver(take, maxAttempts)) return [...arrivals, ...reads];
    return [...arrivals, ...fates.map((fate) => ({ kind: 'attempt' as const, take: index, fate }))];
  });
  return readsAtOnce ? steps.filter((step) => !overtakesRead(world, step)) : steps;
}

function overtakesRead(world: World, step: Step): boolean {
  const number = arrivingNumber(world, step);
  if (number === undefined) return false;
  return world.takes.some(
    (take) => take.task !== undefined && take.next - 1 < number && world.tasks[take.task]?.isRead === false,
  );
}
