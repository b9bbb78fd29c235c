import { hash } from 'node:crypto';
import { inputFieldNames, type TaskInput } from '../../catalogue/input/task-input.ts';

/** Returns the next number, from 0 to below 1, of a fixed sequence. */
export type Random = () => number;

/**
 * Model and input decide the film; the task does not. The fields are in the order of the vocabulary, because the input of a task whose
 * seed we chose has another order than that of a request which repeats it.
 */
export function filmSeed(model: string, input: TaskInput): string {
  const fields = inputFieldNames.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]);
  return hash('sha256', JSON.stringify([model, Object.fromEntries(fields)]));
}

/** Each purpose has a sequence of its own, so that one part may change without the others. */
export function createRandom(seed: string, purpose: string): Random {
  let state = hash('sha256', `${seed}/${purpose}`, 'buffer').readUInt32LE(0);
  // Mulberry32: 32 bits of state are enough to choose colors and notes.
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function between(random: Random, from: number, to: number): number {
  return from + (to - from) * random();
}

export function choose<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
