import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { processorTimes } from './processor.ts';
import { median } from './statistics.ts';

/** Tasks that are under way at a time. */
export const atOnce = 32;

const lookEveryMs = 25;
/** A machine that is busy with other things takes many times as long; what has ended by then is the figure. */
const batchLimitMs = 60_000;

/** What a batch of tasks met with: ends a second, and the processor time for each, by the names of those who spent it. */
export type Batch<Spender extends string = string> = {
  readonly perSecond: number;
  readonly cpuMs: Readonly<Record<Spender, number>>;
};

export type BatchWork<Spender extends string> = {
  /** Begins so many, `atOnce` at a time. */
  readonly begin: (count: number) => Promise<unknown>;
  /** How many have ended so far, in this batch or an earlier one. */
  readonly ended: () => Promise<number>;
  readonly spenders: Readonly<Record<Spender, number>>;
};

/** From the first beginning until the last end, or until the limit. */
export async function runBatch<Spender extends string>(
  count: number,
  { begin, ended, spenders }: BatchWork<Spender>,
): Promise<Batch<Spender>> {
  const [from, before] = [await ended(), await processorTimes()];
  await begin(count);
  let done = 0;
  await waitUpTo(batchLimitMs, async () => (done = (await ended()) - from) >= count);
  const after = await processorTimes();
  if (done <= 0) throw new Error(`none of ${count} tasks ended`);
  // Object.entries forgets the names' type; the record has no others.
  const entries = Object.entries(spenders) as [Spender, number][];
  const cpuMs = Object.fromEntries(
    entries.map(([name, pid]) => [name, (after.treeMs(pid) - before.treeMs(pid)) / done]),
  ) as Record<Spender, number>;
  return { perSecond: (1000 * done) / (after.at - before.at), cpuMs };
}

/** Batches that take about as long as a load, whatever this machine is able to: their size is found by trying a few tasks. */
export async function sizedBatches<T extends Batch>(
  { batchMs }: Pick<Bench, 'batchMs'>,
  run: (count: number) => Promise<T>,
): Promise<() => Promise<T>> {
  // The first ones find processes that have compiled nothing yet.
  await run(atOnce).catch(() => undefined);
  const probe = await run(atOnce).catch(() => ({ perSecond: 0 }));
  const count = Math.max(atOnce, Math.round((probe.perSecond * batchMs) / 1000));
  await run(count).catch(() => undefined);
  return () => run(count);
}

/** Medians of several rounds, figure by figure. */
export function medianBatch<Spender extends string>(batches: readonly Batch<Spender>[]): Batch<Spender> {
  const [first] = batches;
  // As above.
  const names = Object.keys(first?.cpuMs ?? {}) as Spender[];
  return {
    perSecond: median(batches.map(({ perSecond }) => perSecond)),
    cpuMs: Object.fromEntries(names.map((name) => [name, median(batches.map(({ cpuMs }) => cpuMs[name]))])) as Record<
      Spender,
      number
    >,
  };
}

/** Whether it was so within the limit. */
export async function waitUpTo(limitMs: number, isSo: () => Promise<boolean> | boolean): Promise<boolean> {
  for (const giveUpAt = performance.now() + limitMs; performance.now() < giveUpAt; await delay(lookEveryMs)) {
    if (await isSo()) return true;
  }
  return false;
}
