import type { Bench, Rows, Say } from './bench.ts';
import { httpRows } from './rows/create-task.ts';
import { growthRows } from './rows/growth.ts';
import { memoryRows } from './rows/memory.ts';
import { outstandingRows } from './rows/outstanding.ts';
import { peerRows } from './rows/peers.ts';
import { wholeTaskRows } from './rows/whole-task.ts';

export type Part = {
  /** Measured only with `--long` or `--only`. */
  readonly isLong?: true;
  readonly measure: (bench: Bench, say: Say) => Rows;
};

/** The parts in the order of the table. */
export const parts: Readonly<Record<string, Part>> = {
  http: { measure: httpRows },
  engine: { measure: wholeTaskRows },
  peers: { measure: peerRows },
  memory: { isLong: true, measure: memoryRows },
  growth: { isLong: true, measure: growthRows },
  // It comes last, because the workflows that it leaves at Temporal would
  // disturb the others.
  outstanding: { measure: outstandingRows },
};
