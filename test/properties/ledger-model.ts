import type { TaskState } from '../../src/catalogue/tasks/task.ts';

/** The events of one account: `slot` names a task, `key` an idempotency key, `body` one of two different requests. */
export type Step =
  | { readonly kind: 'grant'; readonly credits: number }
  | { readonly kind: 'accept'; readonly slot: number; readonly key: number | undefined; readonly body: 0 | 1 }
  | { readonly kind: 'confirm' | 'start' | 'complete' | 'refund'; readonly slot: number };

/** The answer to a step in one word, with the slot it speaks of. */
export type Outcome = string;

type ModelTask = {
  readonly state: TaskState;
  readonly key: number | undefined;
  readonly body: 0 | 1;
  /** Frozen at its acceptance, also if the price changes. */
  readonly charge: number;
};

/** The books of one account as a clerk would write them on paper. Never changed: a step answers the next page. */
export type Model = {
  readonly balance: number;
  readonly maxUnfinished: number;
  /** The account's current price. */
  readonly price: number;
  readonly tasks: ReadonlyMap<number, ModelTask>;
  /** Signed amounts in order. */
  readonly entries: readonly number[];
};

/** Seconds of the two requests, and so 132 and 165 credits at the price that the account begins with. */
export const bodySeconds = [4, 5] as const;

export const firstPrice = 33;

export function emptyModel(balance: number, maxUnfinished: number): Model {
  return { balance, maxUnfinished, price: firstPrice, tasks: new Map(), entries: [balance] };
}

export function unfinishedOf({ tasks }: Model): number {
  return [...tasks.values()].filter(({ state }) => !isFinal(state)).length;
}

function chargeOf({ price }: Model, body: 0 | 1): number {
  return price * bodySeconds[body];
}

export function applyStep(model: Model, step: Step): { readonly model: Model; readonly outcome: Outcome } {
  if (step.kind === 'grant') return { model: book(model, step.credits), outcome: 'granted' };
  return step.kind === 'accept' ? accept(model, step) : move(model, step);
}

function accept(model: Model, { slot, key, body }: Extract<Step, { kind: 'accept' }>) {
  const sameKey = [...model.tasks].find(([, task]) => key !== undefined && task.key === key);
  const [earlierSlot, earlier] = model.tasks.has(slot) ? [slot, model.tasks.get(slot)] : (sameKey ?? []);
  if (earlier !== undefined) {
    return { model, outcome: earlier.body === body ? `replayed ${earlierSlot} ${earlier.charge}` : 'key_reused' };
  }
  const charge = chargeOf(model, body);
  if (model.balance < charge) return { model, outcome: 'insufficient_credits' };
  if (unfinishedOf(model) >= model.maxUnfinished) return { model, outcome: 'too_many_unfinished_tasks' };
  const accepted = withTask(book(model, -charge), slot, { state: 'waiting', key, body, charge });
  return { model: accepted, outcome: `accepted ${slot} ${charge}` };
}

function move(model: Model, { kind, slot }: { kind: 'confirm' | 'start' | 'complete' | 'refund'; slot: number }) {
  const task = model.tasks.get(slot);
  if (task === undefined) return { model, outcome: 'unknown' };
  const state = isFinal(task.state) ? task.state : nextState[kind](task.state);
  const moved = withTask(model, slot, { ...task, state });
  const isRefund = kind === 'refund' && !isFinal(task.state);
  const outcome = kind === 'start' && isFinal(state) ? 'unknown' : state;
  return { model: isRefund ? book(moved, task.charge) : moved, outcome };
}

const nextState: Record<'confirm' | 'start' | 'complete' | 'refund', (state: TaskState) => TaskState> = {
  confirm: (state) => (state === 'waiting' ? 'queuing' : state),
  start: () => 'generating',
  complete: () => 'success',
  refund: () => 'fail',
};

function book(model: Model, amount: number): Model {
  return { ...model, balance: model.balance + amount, entries: [...model.entries, amount] };
}

function withTask(model: Model, slot: number, task: ModelTask): Model {
  return { ...model, tasks: new Map([...model.tasks, [slot, task]]) };
}

function isFinal(state: TaskState): boolean {
  return state === 'success' || state === 'fail';
}

/** Steps that ran at the same time must have had the outcomes of *some* order; answers the models of every such order. */
export function explain(model: Model, steps: readonly Step[], outcomes: readonly Outcome[]): readonly Model[] {
  if (steps.length === 0) return [model];
  return steps.flatMap((step, index) => {
    const { model: next, outcome } = applyStep(model, step);
    return outcome === outcomes[index] ? explain(next, without(steps, index), without(outcomes, index)) : [];
  });
}

function without<T>(list: readonly T[], index: number): readonly T[] {
  return list.toSpliced(index, 1);
}
