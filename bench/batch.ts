import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { processorTimes } from './processor.ts';
import { median } from './statistics.ts';

/** The number of tasks that run concurrently. */
export const atOnce = 32;
/** The number of tasks in a batch of a quick run. */
export const quickBatch = 8;

const lookEveryMs = 25;
/**
 * A machine under other load takes many times as long. At this limit, the rate
 * is computed from the tasks that have ended.
 */
const batchLimitMs = 60_000;

/**
 * The result of a batch: tasks that ended per second, and the processor time of
 * each process per task.
 */
export type Batch<Spender extends string = string> = {
  readonly perSecond: number;
  readonly cpuMs: Readonly<Record<Spender, number>>;
};

export type BatchWork<Spender extends string> = {
  /** Starts `count` tasks, `atOnce` at a time. */
  readonly begin: (count: number) => Promise<unknown>;
  /**
   * Returns the number of tasks that have ended, in this batch and in earlier
   * ones.
   */
  readonly ended: () => Promise<number>;
  readonly spenders: Readonly<Record<Spender, number>>;
};

/** Measures from the first start until the last end, or until the limit. */
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
  // Object.entries widens the type of the names; the record has no others.
  const entries = Object.entries(spenders) as [Spender, number][];
  const cpuMs = Object.fromEntries(
    entries.map(([name, pid]) => [name, (after.treeMs(pid) - before.treeMs(pid)) / done]),
  ) as Record<Spender, number>;
  return { perSecond: (1000 * done) / (after.at - before.at), cpuMs };
}

/**
 * Returns a function that runs batches of about `batchMs`. A small batch first
 * measures how many tasks this machine completes in that time.
 */
export async function sizedBatches<T extends Batch>(
  { batchMs, quick }: Pick<Bench, 'batchMs' | 'quick'>,
  run: (count: number) => Promise<T>,
): Promise<() => Promise<T>> {
  if (quick) return () => run(quickBatch);
  // The first batch runs in processes that have compiled nothing yet, so it is
  // not measured.
  await run(atOnce).catch(() => undefined);
  const probe = await run(atOnce).catch(() => ({ perSecond: 0 }));
  const count = Math.max(atOnce, Math.round((probe.perSecond * batchMs) / 1000));
  await run(count).catch(() => undefined);
  return () => run(count);
}

/** Returns the medians of several rounds, figure by figure. */
export function medianBatch<Spender extends string>(batches: readonly Batch<Spender>[]): Batch<Spender> {
  const [first] = batches;
  // The record has no other names.
  const names = Object.keys(first?.cpuMs ?? {}) as Spender[];
  return {
    perSecond: median(batches.map(({ perSecond }) => perSecond)),
    cpuMs: Object.fromEntries(names.map((name) => [name, median(batches.map(({ cpuMs }) => cpuMs[name]))])) as Record<
      Spender,
      number
    >,
  };
}

/** Returns true if the condition held within the limit. */
export async function waitUpTo(limitMs: number, isSo: () => Promise<boolean> | boolean): Promise<boolean> {
  for (const giveUpAt = performance.now() + limitMs; performance.now() < giveUpAt; await delay(lookEveryMs)) {
    if (await isSo()) return true;
  }
  return false;
}
