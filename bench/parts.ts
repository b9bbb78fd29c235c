import type { Bench, Rows, Say } from './bench.ts';
import { admissionRows } from './rows/admissions.ts';
import { httpRows } from './rows/create-task.ts';
import { growthRows } from './rows/growth.ts';
import { liveRows } from './rows/live.ts';
import { memoryRows } from './rows/memory.ts';
import { outstandingRows } from './rows/outstanding.ts';
import { peerRows } from './rows/peers.ts';
import { otherTaskRows, wholeTaskRows } from './rows/whole-task.ts';

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
  admissions: { measure: admissionRows },
  engines: { isLong: true, measure: otherTaskRows },
  memory: { isLong: true, measure: memoryRows },
  growth: { isLong: true, measure: growthRows },
  // These come last, because the workflows that they leave at Temporal would
  // disturb the others.
  live: { isLong: true, measure: liveRows },
  outstanding: { measure: outstandingRows },
};
