import { hash } from 'node:crypto';

/** A number from 0 to below 1, the next of a fixed sequence. */
export type Random = () => number;

/** The sequence of a text, always the same. */
export function createRandom(text: string): Random {
  let state = hash('sha256', text, 'buffer').readUInt32LE(0);
  // Mulberry32: 32 bits of state are plenty for choosing colours and shapes.
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

/** One of the given choices, of which there is at least one. */
export function choose<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
