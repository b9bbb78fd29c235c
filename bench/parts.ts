import type { Bench, Rows, Telling } from './bench.ts';
import { admissionRows } from './rows/admissions.ts';
import { coldStartRows } from './rows/cold-start.ts';
import { consoleRows } from './rows/console.ts';
import { httpRows } from './rows/create-task.ts';
import { growthRows } from './rows/growth.ts';
import { liveRows } from './rows/live.ts';
import { memoryRows } from './rows/memory.ts';
import { outstandingRows } from './rows/outstanding.ts';
import { peerRows } from './rows/peers.ts';
import { previewRows } from './rows/preview-render.ts';
import { otherTaskRows, wholeTaskRows } from './rows/whole-task.ts';

export type Part = {
  /** Measured only with `--long` or `--only`. */
  readonly isLong?: true;
  readonly measure: (bench: Bench, telling: Telling) => Rows;
};

/** The parts in the order of the table. */
export const parts: Readonly<Record<string, Part>> = {
  http: { measure: httpRows },
  engine: { measure: wholeTaskRows },
  peers: { measure: peerRows },
  admissions: { measure: admissionRows },
  engines: { isLong: true, measure: otherTaskRows },
  preview: { isLong: true, measure: previewRows },
  start: { isLong: true, measure: coldStartRows },
  console: { isLong: true, measure: consoleRows },
  memory: { isLong: true, measure: memoryRows },
  growth: { isLong: true, measure: growthRows },
  // These come last, because the workflows that they leave at Temporal would
  // disturb the others.
  live: { isLong: true, measure: liveRows },
  outstanding: { measure: outstandingRows },
};
